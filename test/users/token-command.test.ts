import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { openUsers } from '../../src/users/open-users.ts';
import { parseUsersConfig } from '../../src/users/users-config.ts';
import { holdfast } from '../support/program/command.ts';
import { runProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const SECRET = 'a configured secret';
const service = (rest: object = {}): object => ({ type: 'unsafe-jwt-hmac-256', secret: SECRET, ...rest });

/** Runs `holdfast token` with a ledger configuration and gives the token's claims, or the message. */
async function claimsWith(ledger: object, ...args: readonly string[]): Promise<Record<string, unknown> | string> {
  using directory = temporaryDirectory();
  const [data, config] = [directory.at('data'), directory.at('config.json')];
  writeFileSync(config, JSON.stringify({ ledger }));
  const ended = await holdfast('token', '--data', data, '--config', config, '--user', 'alice', ...args);
  if (ended.code !== 0) return `${ended.code} ${ended.stderr}`;
  const token = ended.stdout.trim();
  if (JSON.stringify(ledger).includes(SECRET)) {
    await jwtVerify(token, new TextEncoder().encode(SECRET));
    expect(existsSync(data)).toBe(false);
  }
  const { iat, exp, ...claims } = decodeJwt(token);
  return { ...claims, lifetime: exp! - iat! };
}

describe('holdfast token', () => {
  it('signs with the secret of the data directory, which it makes where it is missing', async () => {
    using directory = temporaryDirectory();
    const dataDir = directory.at('data');
    const ended = await holdfast('token', '--data', dataDir, '--user', 'participant_admin');
    const made = `holdfast: created a new secret, ${dataDir}/token-secret: only a service on this directory accepts the token\n`;
    expect([ended.code, ended.stderr]).toEqual([0, made]);
    const again = await holdfast('token', '--data', dataDir, '--user', 'participant_admin');
    expect([again.code, again.stderr]).toEqual([0, '']);
    const config = parseUsersConfig({ value: undefined, folder: dataDir });
    using users = openUsers({ dataDir, config, participantId: null, logger: pino({ level: 'silent' }) });
    const [local] = users.authServices;
    const token = ended.stdout.trim();
    const { payload } = await jwtVerify(token, local?.kind === 'secret' ? local.secret : new Uint8Array());
    expect(payload).toMatchObject({ sub: 'participant_admin', scope: 'daml_ledger_api' });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
  });

  it.each<readonly [string, object, readonly string[], object | string]>([
    ['an hour unless asked otherwise', {}, [], { sub: 'alice', scope: 'daml_ledger_api', lifetime: 3600 }],
    ['as long as asked', {}, ['--expires-in', '10m'], { lifetime: 600 }],
    ['no longer than the settings allow', { maxTokenLifetime: '5m' }, [], { lifetime: 300 }],
    [
      'with the secret of the first service that has one, and makes nothing in the directory',
      { authServices: [{ type: 'jwt-jwks', url: 'http://k' }, service()] },
      [],
      { scope: 'daml_ledger_api' },
    ],
    [
      'with the audience that the service asks for',
      { authServices: [service({ targetAudience: 'a', targetScope: 's' })] },
      [],
      { aud: 'a', sub: 'alice' },
    ],
    [
      'within the lifetime of the service',
      { maxTokenLifetime: '5m', authServices: [service({ maxTokenLifetime: '2h' })] },
      ['--expires-in', '2h'],
      { lifetime: 7200 },
    ],
    ['not without a secret', { authServices: [{ type: 'jwt-jwks', url: 'http://k' }] }, [], 'no secret to sign with'],
    [
      'not longer than it may live',
      { maxTokenLifetime: '5m' },
      ['--expires-in', '6m'],
      'maxTokenLifetime allows 300 s at most',
    ],
    ['not where no token lives', { maxTokenLifetime: '0s' }, [], 'refuses every token'],
    ['not for nothing', {}, ['--expires-in', '0s'], '--expires-in: given "0s", expected a duration'],
    ['not for a user id that is none', {}, ['--user', 'a b'], '--user: User ID "a b" does not match'],
  ])('signs a token %s', async (_, ledger, args, expected) => {
    const said = await claimsWith(ledger, ...args);
    if (typeof expected === 'object') expect(said).toMatchObject(expected);
    else expect(said).toMatch(new RegExp(`^2 holdfast: .*${expected.replaceAll(/[-.]/g, '\\$&')}[^\n]*\n$`));
  });

  it('leaves nothing where there is no room for a secret', async () => {
    using directory = temporaryDirectory();
    const args = ['token', '--data', directory.at('data'), '--user', 'alice'];
    const ended = await runProgram(args, { limits: 'ulimit -f 0' });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(readdirSync(directory.at('data'))).toEqual([]);
    expect(await runProgram(args)).toMatchObject({ code: 0 });
  });
});
