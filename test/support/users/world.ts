import type { Users } from '../../../src/users/open-users.ts';
import type { PlainKind } from '../../../src/users/user.ts';
import { EMPTY_USER } from '../../../src/users/user-requests.ts';
import { type RunningArea, startArea } from './area.ts';
import { type KeyServer, keyToken, makeKey, type SigningKey, secretToken, startKeyServer } from './keys.ts';

/** Somebody to ask: an address, and the tokens of the users there. */
export interface Asked {
  readonly url: string;
  /** The token of a user by name; null for `nobody`; a name with dots is a token itself. */
  token(who: string): Promise<string | null>;
}

/**
 * Two identity providers, X and Y, and users to ask as: `admin` and `plain` of the default provider, and of X and Y an
 * administrator (`xadmin`), a user without rights (`xplain`) and a participant admin (`xpa`). What a test makes further
 * belongs to X or Y by its first letter, as far as its tokens go.
 */
export interface World extends Asked, AsyncDisposable {
  readonly area: RunningArea;
  readonly keyServer: KeyServer;
  readonly keys: Keys;
}

interface Keys {
  readonly X: SigningKey;
  readonly Y: SigningKey;
}

export const ISSUER = { X: 'https://x.example', Y: 'https://y.example' } as const;
type ProviderId = keyof typeof ISSUER;

/** The world in this process, where its users, its log and its clock can be reached. */
export async function startWorld(
  ledger: Readonly<Record<string, unknown>> = {},
  clock: { readonly nowMs?: () => number } = {},
): Promise<World> {
  const keyServer = await startKeys();
  const area = await startArea(ledger, clock);
  for (const id of ['X', 'Y'] as const) populate(area.users, id, `${keyServer.url}/${id}`);
  insertUser(area.users, 'plain', '', null);
  return {
    area,
    url: area.url,
    keyServer,
    keys,
    token: tokensOf(keys),
    async [Symbol.asyncDispose]() {
      await area[Symbol.asyncDispose]();
      await keyServer[Symbol.asyncDispose]();
    },
  };
}

/** Made once: it takes a while. */
const keys: Keys = { X: makeKey('ES256', 'key-x'), Y: makeKey('RS256', 'key-y') };

async function startKeys(): Promise<KeyServer> {
  const keyServer = await startKeyServer();
  for (const id of ['X', 'Y'] as const) await keyServer.publish(`/${id}`, keys[id]);
  return keyServer;
}

function tokensOf(keys: Keys): Asked['token'] {
  const tokens = new Map<string, Promise<string>>();
  return (who) => {
    if (who === 'nobody') return Promise.resolve(null);
    if (who.includes('.')) return Promise.resolve(who);
    const known = tokens.get(who) ?? makeToken(who, keys);
    tokens.set(who, known);
    return known;
  };
}

function residents(id: ProviderId): readonly { readonly name: string; readonly right: PlainKind | null }[] {
  const prefix = id.toLowerCase();
  return [
    { name: `${prefix}admin`, right: 'IdentityProviderAdmin' },
    { name: `${prefix}plain`, right: null },
    { name: `${prefix}pa`, right: 'ParticipantAdmin' },
  ];
}

function populate(users: Users, id: ProviderId, jwksUrl: string): void {
  users.write((writer) =>
    writer.insertIdentityProvider({ id, isDeactivated: false, issuer: ISSUER[id], jwksUrl, audience: '' }),
  );
  for (const { name, right } of residents(id)) insertUser(users, name, id, right);
}

export function insertUser(users: Users, id: string, identityProviderId: string, right: PlainKind | null): void {
  users.write((writer) => {
    writer.insertUser({ ...EMPTY_USER, id, identityProviderId, resourceVersion: 0n });
    if (right !== null) writer.grantRight(id, { kind: right, party: '' });
  });
}

function makeToken(who: string, keys: Keys): Promise<string> {
  if (who === 'admin') return secretToken({ sub: 'participant_admin' });
  const id = who.startsWith('x') ? 'X' : who.startsWith('y') ? 'Y' : null;
  return id === null ? secretToken({ sub: who }) : keyToken(keys[id], { sub: who, iss: ISSUER[id] });
}
