import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/http/prometheus.ts';
import { createUsersArea } from '../../../src/http/users-area.ts';
import { decodePageToken } from '../../../src/users/user-rules.ts';
import { ask, checkAnswer } from '../../support/users/cases.ts';
import { secretToken } from '../../support/users/keys.ts';
import { startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ bodyBytesMax: 200_000 });
});
afterAll(() => world[Symbol.asyncDispose]());

describe('the limits of a body', () => {
  const padded = (bytes: number): string => `{"user":{"id":"?"}}${' '.repeat(bytes - 19)}`;
  const chunked = async (who: string, text: string): Promise<number> => {
    const body = new Blob([text]).stream();
    const authorization = `Bearer ${await world.token(who)}`;
    const init = { method: 'POST', headers: { authorization }, body, duplex: 'half' } as RequestInit;
    return (await fetch(`${world.area.url}/v2/users`, init)).status;
  };

  it('are the configured one for an administrator, and 64 KiB without a token', async () => {
    expect((await ask(world, 'admin', 'POST /v2/users', padded(200_000))).status).toBe(400);
    const refused = await ask(world, 'admin', 'POST /v2/users', padded(200_001));
    expect(refused.status).toBe(413);
    expect(refused.headers.get('content-type')).toMatch(/^text\/plain/);
    expect((await ask(world, 'nobody', 'POST /v2/users', padded(65_536))).status).toBe(401);
    expect((await ask(world, 'nobody', 'POST /v2/users', padded(65_537))).status).toBe(413);
    expect((await ask(world, 'x.y.z', 'POST /v2/users', padded(65_537))).status).toBe(413);
  });

  it.each([
    ['POST /v2/users', '403 NA'],
    ['PATCH /v2/users/plain', '400 INVALID_ARGUMENT'],
    ['POST /v2/users/plain/rights', '400 INVALID_ARGUMENT'],
    ['PATCH /v2/users/plain/rights', '400 INVALID_ARGUMENT'],
    ['PATCH /v2/users/plain/identity-provider-id', '400 INVALID_ARGUMENT'],
    ['POST /v2/idps', '403 NA'],
    ['PATCH /v2/idps/X', '400 INVALID_ARGUMENT'],
  ])('are 64 KiB for a caller without any admin right: %s', async (request, expected) => {
    for (const who of ['plain', 'xplain']) {
      checkAnswer(await ask(world, who, request, padded(65_536)), expected, who);
      checkAnswer(await ask(world, who, request, padded(65_537)), '413 text ~larger than 65536 bytes', who);
    }
    for (const who of ['admin', 'xadmin', 'xpa'])
      expect((await ask(world, who, request, padded(65_537))).status, who).not.toBe(413);
  });

  it('are 64 KiB where an administrator has a token for another participant', async () => {
    const token = await secretToken({ sub: 'participant_admin', aud: 'other-participant-id' });
    expect((await ask(world, token, 'POST /v2/users', padded(65_536))).status).toBe(403);
    expect((await ask(world, token, 'POST /v2/users', padded(65_537))).status).toBe(413);
  });

  it('follow a right that is given or taken with the next request', async () => {
    const rights = '{"userId":"plain","rights":[{"kind":{"ParticipantAdmin":{"value":{}}}}]}';
    await ask(world, 'admin', 'POST /v2/users/plain/rights', rights);
    expect((await ask(world, 'plain', 'POST /v2/users', padded(65_537))).status).toBe(400);
    await ask(world, 'admin', 'PATCH /v2/users/plain/rights', rights);
    expect((await ask(world, 'plain', 'POST /v2/users', padded(65_537))).status).toBe(413);
  });

  it('hold for a body that comes in chunks', async () => {
    expect(await chunked('admin', padded(200_000))).toBe(400);
    expect(await chunked('admin', padded(200_001))).toBe(413);
    expect(await chunked('plain', padded(65_536))).toBe(403);
    expect(await chunked('plain', padded(65_537))).toBe(413);
  });

  it('are 64 levels of depth, brackets in texts not counted', async () => {
    const deep = (levels: number): string =>
      `{"user":{"id":"?"},"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await ask(world, 'admin', 'POST /v2/users', deep(64))).text).toContain('INVALID_FIELD');
    expect((await ask(world, 'admin', 'POST /v2/users', deep(65))).text).toBe(
      'Invalid value for: body (nested deeper than 64 levels)',
    );
    expect((await ask(world, 'admin', 'POST /v2/users', '['.repeat(190_000))).status).toBe(400);
    const text = JSON.stringify({ user: { id: '?', primaryParty: `\\"${'['.repeat(100)}` } });
    expect((await ask(world, 'admin', 'POST /v2/users', text)).text).toContain('INVALID_FIELD');
  });

  it('are 200000 values', async () => {
    await using large = await startWorld();
    const many = (count: number): string => `{"user":{"id":"?"},"x":[${'1,'.repeat(count - 2)}1]}`;
    expect((await ask(large, 'admin', 'POST /v2/users', many(200_000))).text).toContain('INVALID_FIELD');
    expect((await ask(large, 'admin', 'POST /v2/users', many(200_001))).text).toContain('more than 200000 values');
    const annotations = Array.from({ length: 199_000 }, (_, at) => `"k${at}":""`).join(',');
    const body = `{"user":{"id":"plain","metadata":{"annotations":{${annotations}}}},"updateMask":{"paths":["metadata"]}}`;
    expect((await ask(large, 'xadmin', 'PATCH /v2/users/plain', body)).status).toBe(403);
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
