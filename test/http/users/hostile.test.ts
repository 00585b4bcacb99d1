import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/http/prometheus.ts';
import { createUsersArea } from '../../../src/http/users-area.ts';
import { decodePageToken } from '../../../src/users/user-rules.ts';
import { ask, checkErrorForm } from '../../support/users/cases.ts';
import { keyToken, secretToken } from '../../support/users/keys.ts';
import { ISSUER, startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const ODD_TEXTS: readonly string[] = [
  'a\u0000b',
  "' OR '1'='1",
  '../../etc/passwd',
  '%2e%2e%2f',
  '<script>alert(1)</script>',
  '\u202eadmin',
  'participant_admin\u200b',
  'PARTICIPANT_ADMIN',
  '\ud800',
  '💥'.repeat(100),
  '__proto__',
  'toString',
  '\r\nSet-Cookie: a=b',
  'a'.repeat(100_000),
];
const right = (kind: unknown): unknown => ({ user: { id: 'victim' }, rights: [{ kind }] });

/** Bodies that no honest client sends; the same are sent to every operation that takes one. */
const BODIES: readonly string[] = [
  '{"__proto__":{"user":{"id":"polluted"}}}',
  '{"user":{"__proto__":{"id":"polluted"}}}',
  '{"user":{"id":"victim","metadata":{"annotations":{"__proto__":"polluted"}}}}',
  '{"user":{"id":"victim","metadata":{"__proto__":{"annotations":{"a":"b"}}}}}',
  '{"user":{"id":"victim"},"rights":{"length":1,"0":{"kind":{"ParticipantAdmin":{"value":{}}}}}}',
  '{"user":{"id":"\\ud800"}}',
  '{"user":{"id":{"toString":"x"}}}',
  '{"user":{"id":1e999}}',
  '{"user":{"id":"victim","isDeactivated":"false"}}',
  `{"user":{"id":"victim","metadata":{"annotations":{${'"a":"b",'.repeat(10_000)}"a":"b/"}}},"userId":5}`,
  `{"a":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`,
  `${'['.repeat(100_000)}`,
  '{"user":{"id":"victim"}',
  '\ufeff{"user":{"id":""}}',
  '{"user":{"id":"x"},}',
  ...[
    { __proto__: null, ParticipantAdmin: { value: 1 } },
    { participantAdmin: { value: {} } },
    { 'ParticipantAdmin ': { value: {} } },
    { toString: { value: {} } },
    { constructor: { value: {} } },
    { Empty: { value: {} } },
    { CanActAs: { value: { party: '\u0000' } } },
    { CanActAs: { value: { party: 'ParticipantAdmin' } }, ParticipantAdmin: null },
    [{ ParticipantAdmin: { value: {} } }],
    'ParticipantAdmin',
  ].map((kind) => JSON.stringify(right(kind))),
];

const WRITES: readonly string[] = [
  'POST /v2/users',
  'PATCH /v2/users/plain',
  'POST /v2/users/plain/rights',
  'PATCH /v2/users/plain/rights',
  'PATCH /v2/users/plain/identity-provider-id',
  'POST /v2/idps',
  'PATCH /v2/idps/X',
];

/** What must be true after every hostile request: no user has more rights than before, and the service answers. */
async function checkUnharmed(): Promise<void> {
  expect(world.area.users.reader.rights('plain')).toEqual([]);
  expect(world.area.users.reader.rights('xadmin')).toEqual([{ kind: 'IdentityProviderAdmin', party: '' }]);
  expect(({} as { polluted?: unknown; id?: unknown }).id).toBeUndefined();
  expect((await ask(world, 'plain', 'GET /v2/users')).status).toBe(403);
  expect((await ask(world, 'admin', 'GET /v2/authenticated-user')).status).toBe(200);
}

function checkHarmless(status: number, text: string, about: string): void {
  expect(status, about).toBeGreaterThanOrEqual(200);
  expect(status, `${about}\n${text.slice(0, 300)}`).toBeLessThan(500);
  expect(text, about).not.toMatch(/\bat .*\.ts:\d|node_modules|SQLITE|SELECT |INSERT /);
  if (status >= 400 && text.startsWith('{"code"')) checkErrorForm(JSON.parse(text), status, about);
}

describe('hostile bodies', () => {
  it.each(WRITES)('%s', async (request) => {
    for (const who of ['admin', 'xadmin', 'plain', 'nobody'])
      for (const body of BODIES) {
        const { status, text } = await ask(world, who, request, body);
        checkHarmless(status, text, `${who} ${request} ${body.slice(0, 100)}`);
      }
    await checkUnharmed();
  });
});

describe('odd texts', () => {
  it.each(ODD_TEXTS.map((text) => [JSON.stringify(text).slice(0, 40), text] as const))(
    '%s as an id',
    async (_, odd) => {
      const segment = odd.isWellFormed() ? encodeURIComponent(odd) : '%ED%A0%80';
      const id = JSON.stringify(odd);
      const requests: readonly (readonly [string, string | null])[] = [
        [`GET /v2/users/${segment}`, null],
        [`DELETE /v2/users/${segment}`, null],
        [`GET /v2/users/${segment}/rights`, null],
        [`GET /v2/idps/${segment}`, null],
        [`GET /v2/users?pageToken=${segment}`, null],
        [`GET /v2/authenticated-user?identity-provider-id=${segment}`, null],
        [`POST /v2/users/${segment}/rights`, `{"userId":${id},"rights":[{"kind":{"ParticipantAdmin":{"value":{}}}}]}`],
        ['POST /v2/users', `{"user":{"id":${id},"primaryParty":${id},"identityProviderId":${id}}}`],
        [
          'POST /v2/users',
          `{"user":{"id":"odd","metadata":{"annotations":{${id}:${id}}}},"rights":[{"kind":{"CanActAs":{"value":{"party":${id}}}}}]}`,
        ],
        [
          'PATCH /v2/users/plain',
          `{"user":{"id":"plain","metadata":{"resourceVersion":${id}}},"updateMask":{"paths":[${id}]}}`,
        ],
        ['POST /v2/idps', `{"identityProviderConfig":{"identityProviderId":${id},"issuer":${id},"jwksUrl":${id}}}`],
      ];
      for (const who of ['admin', 'plain', 'nobody'])
        for (const [request, body] of requests) {
          const { status, text } = await ask(world, who, request, body);
          checkHarmless(status, text, `${who} ${request.slice(0, 200)}`);
          if (who !== 'admin') expect(status, request).not.toBe(200);
        }
      for (const token of [
        await secretToken({ sub: odd }),
        await keyToken(world.keys.X, { sub: odd, iss: ISSUER.X }, { kid: odd }),
        await secretToken({ sub: 'plain', iss: odd, scope: `daml_ledger_api ${odd}` }),
      ]) {
        if (token.length > 60_000) continue;
        const { status, text } = await ask(world, token, 'GET /v2/users');
        checkHarmless(status, text, `a token of ${odd.slice(0, 50)}`);
        expect(status).not.toBe(200);
      }
      await checkUnharmed();
    },
  );
});

describe('a page token', () => {
  it('of much padding is refused at once', async () => {
    const { status, text } = await ask(world, 'admin', `GET /v2/users?pageToken=${'='.repeat(60_000)}x`);
    expect([status, text]).toEqual([400, expect.stringContaining('Invalid page token')]);
    // Longer than any that comes: a search whose time grows with the square of the length would not end in that of a test.
    expect(decodePageToken(`${'='.repeat(600_000)}x`)).toBeNull();
  });
});

it('refuses a body that fails while it is being refused', async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(Buffer.alloc(70_000)),
    cancel: () => Promise.reject(new Error('gone')),
  });
  const app = createUsersArea({
    users: world.area.users,
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    clientAddress: () => '',
  });
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit;
  const response = await app.request('/v2/users', init, { incoming: new IncomingMessage(new Socket()) });
  expect(response.status).toBe(413);
});
