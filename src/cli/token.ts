import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../refusal.ts';
import { durationUs, parseAs } from '../setting-kinds.ts';
import { showGiven } from '../show-given.ts';
import { LOCAL_SECRET_FILE, localService, mintToken } from '../users/local-secret.ts';
import { userIdFault } from '../users/user.ts';
import type { AuthService, UsersConfig } from '../users/users-config.ts';
import type { CliCommand, Terminal } from './command.ts';

type SecretService = Extract<AuthService, { kind: 'secret' }>;

const LIFETIME_DEFAULT_S = 3600;
/** At most the longest duration that a double counts exactly in microseconds. */
const LIFETIME = durationUs('1s', '104249d')('how long it is valid (default: 1h, or the most that the settings allow)');

export const tokenCommand: CliCommand = {
  usage: 'token',
  summary: 'Print a token for a user, signed with the local secret or a configured HS256 secret',
  examples: ['holdfast token --user participant_admin', 'holdfast token --user alice --expires-in 10m'],
  dataDir: 'made',
  addOptions: (command) =>
    command.requiredOption('--user <ID>', 'the user of the token').option('--expires-in <D>', LIFETIME.help),
  run: async ({ options, config, terminal }) => {
    const given = options as { readonly user: string; readonly expiresIn?: string };
    const fault = userIdFault(given.user);
    if (fault !== null) throw new Refusal(`--user: ${fault}`);
    const configured = secretService(config.users);
    const lifetimeS = lifetimeOf(given.expiresIn, configured?.lifetimeMaxS ?? config.users.lifetimeMaxS);
    const service = configured ?? localSecret(config.dataDir, terminal);
    const token = await mintToken({ service, userId: given.user, lifetimeS, nowS: Date.now() / 1000 });
    terminal.stdout.write(`${token}\n`);
  },
};

/** Reports a new secret: with a mistyped directory, no service would accept the token. */
function localSecret(dataDir: string, { stderr }: Terminal): SecretService {
  const file = join(dataDir, LOCAL_SECRET_FILE);
  const isNew = !existsSync(file);
  const service = localService(dataDir);
  if (isNew)
    stderr.write(`holdfast: created a new secret, ${file}: only a service on this directory accepts the token\n`);
  return service;
}

/** The first configured secret; null where no service is configured, and the directory's own is used. */
function secretService({ authServices }: UsersConfig): SecretService | null {
  if (authServices.length === 0) return null;
  const service = authServices.find((candidate) => candidate.kind === 'secret');
  if (service !== undefined) return service;
  throw new Refusal(
    'token: ledger.authServices has no unsafe-jwt-hmac-256, so there is no secret to sign with: ask the owner of the key',
  );
}

function lifetimeOf(given: string | undefined, maxS: number | null): number {
  if (maxS === 0) throw new Refusal('token: maxTokenLifetime is 0s, which refuses every token');
  if (given === undefined) return Math.min(LIFETIME_DEFAULT_S, maxS ?? LIFETIME_DEFAULT_S);
  const lifetimeS = Math.floor(parseAs('--expires-in', LIFETIME, given) / 1_000_000);
  if (maxS !== null && lifetimeS > maxS)
    throw new Refusal(`--expires-in: given ${showGiven(given)}, but maxTokenLifetime allows ${maxS} s at most`);
  return lifetimeS;
}
