import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/http/prometheus.ts';
import { createUsersArea } from '../../../src/http/users-area.ts';
import { decodePageToken } from '../../../src/users/user-rules.ts';
import { ask, checkErrorForm } from '../../support/users/cases.ts';
import { startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

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
