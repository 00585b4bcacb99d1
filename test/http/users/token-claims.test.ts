import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PARTICIPANT_ID, type RunningArea, startArea } from '../../support/users/area.ts';
import { secretToken } from '../../support/users/keys.ts';

/** The clock of these tests is fixed, half a second after a full one. */
const NOW_S = 1_800_000_000;
const HALF_PAST_MS = NOW_S * 1000 + 500;
const PREFIX = 'https://daml.com/jwt/aud/participant/';
const SECRET = 'another secret';

type Line = readonly [what: string, claims: Record<string, unknown>, expected: string];

/** Asks for the administrator's own record with a token of these claims; the answer as `200`, `403` or `401`. */
async function outcome(area: RunningArea, claims: Record<string, unknown>): Promise<string> {
  const token = await secretToken({ sub: 'participant_admin', exp: NOW_S + 3600, ...claims }, SECRET);
  const response = await fetch(`${area.url}/v2/authenticated-user`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  return `${response.status}${text.includes('ledger_api_error') ? ' LAE' : ''}`;
}

function table(what: string, ledger: Record<string, unknown>, service: object, lines: readonly Line[]): void {
  describe(what, () => {
    let area: RunningArea;
    beforeAll(async () => {
      const authServices = [{ type: 'unsafe-jwt-hmac-256', secret: SECRET, ...service }];
      area = await startArea({ ...ledger, authServices }, { nowMs: () => HALF_PAST_MS });
    });
    afterAll(() => area[Symbol.asyncDispose]());

    it.each(lines)('%s', async (_, claims, expected) => {
      expect(await outcome(area, claims)).toBe(expected);
    });
  });
}

table('the default rules', {}, {}, [
  ['C2 no expiry at all', { exp: undefined }, '200'],
  ['C2 an expiry of null', { exp: null }, '200'],
  ['C4 expired a day ago', { exp: NOW_S - 86_400 }, '401'],
  ['C4 expired at this second', { exp: NOW_S }, '401'],
  ['C4 expires at the next second', { exp: NOW_S + 1 }, '200'],
  ['C4 expired a tenth of a second ago', { exp: NOW_S + 0.4 }, '401'],
  ['C4 expires in a tenth of a second', { exp: NOW_S + 0.6 }, '200'],
  ['C4 an expiry of text', { exp: String(NOW_S + 3600) }, '401'],
  ['C5 issued in the future', { iat: NOW_S + 1 }, '401'],
  ['C5 issued at this second', { iat: NOW_S }, '200'],
  ['C5 issued at a fraction of a second', { iat: NOW_S + 0.5 }, '200'],
  ['C5 an issue time of text', { iat: 'now' }, '401'],
  ['C6 not before a second from now', { nbf: NOW_S + 1 }, '401'],
  ['C6 not before a second ago', { nbf: NOW_S - 1 }, '200'],
  ['C10 scope daml_ledger_api', { scope: 'daml_ledger_api' }, '200'],
  ['C11 the scope among others', { scope: 'openid daml_ledger_api  profile' }, '200'],
  ['C11 the scope as a part of another', { scope: 'resource_server/daml_ledger_api' }, '401'],
  ['C12 scp in place of scope, a text', { scope: undefined, scp: 'daml_ledger_api' }, '200'],
  ['C12 scp in place of scope, a list', { scope: undefined, scp: ['a', 'daml_ledger_api'] }, '200'],
  ['C12 scp with a scope of null', { scope: null, scp: ['daml_ledger_api'] }, '200'],
  ['C12 scp with a scope that is no text', { scope: 5, scp: ['daml_ledger_api'] }, '200'],
  ['C12 scp with an empty scope', { scope: '', scp: ['daml_ledger_api'] }, '401'],
  ['C12 scp with another scope', { scope: 'openid', scp: 'daml_ledger_api' }, '401'],
  ['C13 no scope and no audience', { scope: undefined }, '401'],
  ['C14 the participant as audience', { scope: undefined, aud: PREFIX + PARTICIPANT_ID }, '200'],
  ['C15 another participant as audience', { scope: undefined, aud: `${PREFIX}other` }, '403'],
  ['C15 two participants as audiences', { scope: undefined, aud: [`${PREFIX}other`, PREFIX + PARTICIPANT_ID] }, '401'],
  ['C16 an audience of the prefix alone', { scope: undefined, aud: PREFIX }, '401'],
  ['C17 the participant as audience and another scope', { scope: 'openid', aud: PREFIX + PARTICIPANT_ID }, '200'],
  ['C18 the scope and no audience', { aud: null }, '200'],
  ['C19 the scope and this participant', { aud: PARTICIPANT_ID }, '200'],
  ['C19 the scope and another participant', { aud: 'other-participant-id' }, '403'],
  ['C20 the scope and two audiences', { aud: [PARTICIPANT_ID, 'other'] }, '401'],
  ['C20 the scope and an empty list of audiences', { aud: [] }, '200'],
  ['C20 an audience of a number', { aud: 5 }, '401'],
  ['C24 an issuer that is not configured', { iss: 'https://stranger.example' }, '200'],
  ['C24 an issuer that is no text', { iss: 5 }, '401'],
  ['C25 no subject', { sub: undefined }, '401'],
  ['C25 a subject of null', { sub: null }, '401'],
  ['C26 an empty subject', { sub: '' }, '400 LAE'],
  ['C26 a subject that is no user id', { sub: '??x??' }, '400 LAE'],
  ['C27 an unknown subject', { sub: 'nobody' }, '403 LAE'],
  ['C29 unknown claims', { admin: true, __proto__x: {}, rights: ['ParticipantAdmin'] }, '200'],
]);

table('a target audience', {}, { targetAudience: 'https://ours.example', targetScope: 'ignored' }, [
  ['C21 the audience, and no scope', { scope: undefined, aud: 'https://ours.example' }, '200'],
  ['C21 the audience among others', { scope: undefined, aud: ['a', 'https://ours.example', `${PREFIX}other`] }, '200'],
  ['C22 no audience', {}, '401'],
  ['C22 this participant as audience', { aud: PREFIX + PARTICIPANT_ID }, '401'],
]);

table('a target scope', {}, { targetScope: 'ours' }, [
  ['C23 the scope, whatever the audience', { scope: 'a ours', aud: ['x', `${PREFIX}other`] }, '200'],
  ['C23 another scope', { scope: 'daml_ledger_api' }, '401'],
]);

table('a limit of the lifetime', { maxTokenLifetime: '5m' }, {}, [
  ['C7 further away than that', { exp: NOW_S + 301 }, '401'],
  ['C7 no further away than that', { exp: NOW_S + 300 }, '200'],
  ['C8 no expiry', { exp: undefined }, '401'],
]);

table('a limit of the lifetime of a service', { maxTokenLifetime: '5m' }, { maxTokenLifetime: '1h' }, [
  ['C9 within the service, beyond the others', { exp: NOW_S + 3600 }, '200'],
  ['C9 beyond the service', { exp: NOW_S + 3601 }, '401'],
]);

table('a service without a limit of its own', { maxTokenLifetime: '5m' }, { maxTokenLifetime: 'off' }, [
  ['C9 the limit for all rules', { exp: NOW_S + 301 }, '401'],
]);

table('a lifetime of nothing', { maxTokenLifetime: '0s', leeway: { default: '1h' } }, {}, [
  ['C9 a token that has a second left', { exp: NOW_S + 1 }, '401'],
  ['C9 one that only the leeway keeps', { exp: NOW_S - 1 }, '401'],
]);

table('a leeway for all', { leeway: { default: '10s' } }, {}, [
  ['C28 expired within the leeway', { exp: NOW_S - 9 }, '200'],
  ['C28 expired before', { exp: NOW_S - 10 }, '401'],
  ['C28 issued within the leeway', { iat: NOW_S + 10 }, '200'],
  ['C28 issued after', { iat: NOW_S + 11 }, '401'],
  ['C28 not before within the leeway', { nbf: NOW_S + 10 }, '200'],
  ['C28 not before after', { nbf: NOW_S + 11 }, '401'],
]);

const LEEWAY = { default: '10s', expiresAt: '0s', issuedAt: '20s', notBefore: '1s' };
table('a leeway for each', { leeway: LEEWAY }, {}, [
  ['C28 a smaller one than for all', { exp: NOW_S }, '401'],
  ['C28 a larger one than for all', { iat: NOW_S + 20 }, '200'],
  ['C28 beyond the larger one', { iat: NOW_S + 21 }, '401'],
  ['C28 not before has its own', { nbf: NOW_S + 2 }, '401'],
]);
