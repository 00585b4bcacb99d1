import { afterAll, expect, it } from 'vitest';
import { STREAM_EVENTS } from '../../../src/http/streams.ts';
import { openStream } from '../../support/http/event-stream.ts';
import { fixture } from '../../support/http/expected-answers.ts';
import { makeDataDirectory } from '../../support/http/holdings-service.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';
import { partyOf } from '../../support/ledger/parse-ledger.ts';

const service = await startStreaming(await makeDataDirectory([fixture('story.scan.ndjson')]));
afterAll(() => service[Symbol.asyncDispose]());

async function ask(query: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`${service.url}/holdfast/v1/stream${query}`, init);
}

it('has the headers of a stream that nothing on the way may keep or collect', async () => {
  using stream = await openStream(service.url, {
    headers: { origin: 'https://a.example', 'accept-encoding': 'gzip, br' },
  });
  expect(stream.status).toBe(200);
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
  });
  expect(stream.headers['content-encoding']).toBeUndefined();
  expect(stream.headers.etag).toBeUndefined();
});

it('answers HEAD with the head, and opens no stream', async () => {
  await expect.poll(() => service.streams.openCount()).toBe(0);
  const head = await ask('', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/event-stream', '']);
  expect(head.headers.get('cache-control')).toBe('no-store');
  expect(service.streams.openCount()).toBe(0);
  expect((await ask('?owner=x', { method: 'HEAD' })).status).toBe(400);
});

const PARTY =
  'a party id, <1-185 characters>::<1-68 characters> of letters, digits, ":", "-", "_" and space, without another "::"';

it.each([
  ['?owner=alice', `owner: given "alice", expected ${PARTY}`],
  ['?owner=', `owner: given "", expected ${PARTY}`],
  [`?owner=${partyOf('a')}&owner=b`, `owner: given "b", expected ${PARTY}`],
  ['?limit=3', 'limit: given "3", expected no such parameter, only owner, last_event_id'],
  ['?format=csv', 'format: given "csv", expected no such parameter, only owner, last_event_id'],
  ['?Owner=a::b', 'Owner: given "a::b", expected no such parameter, only owner, last_event_id'],
  ['?last_event_id=a&last_event_id=b', 'last_event_id: given "b", expected it once, and it is given twice'],
])('refuses %s', async (query, error) => {
  const response = await ask(query);
  expect([response.status, await response.json()]).toEqual([400, { error }]);
});

it('takes a hundred owners, and one of them as often as it is given', async () => {
  const tooMany = await ask(`?${Array(101).fill('owner=a::b').join('&')}`);
  const error = 'owner: given 101 times, expected at most 100';
  expect([tooMany.status, await tooMany.json()]).toEqual([400, { error }]);
  const owners = Array.from({ length: 100 }, (_, i) => partyOf(`o${i % 60}`));
  using stream = await openStream(service.url, { owners });
  await stream.until(() => stream.events.length === 2);
  expect(stream.status).toBe(200);
});

it('sends what its document says', async () => {
  const alice = 'alice::12203d32e794974ff887169be79f8613605a302ed9b893a93f7b4ccec6dce67cc4ec';
  using stream = await openStream(service.url, { owners: [alice], lastEventId: '0 2025-02-12T00:10:00Z' });
  using reset = await openStream(service.url, { lastEventId: 'x' });
  await stream.until(() => stream.named('snapshot').length === 6);
  await reset.until(() => reset.named('reset').length === 1);
  const events = [...stream.events, ...reset.events];
  expect([...new Set(events.map(({ name }) => name))].sort()).toEqual(Object.keys(STREAM_EVENTS).sort());
  for (const { name, data } of events)
    expect(STREAM_EVENTS[name as keyof typeof STREAM_EVENTS].safeParse(data).error?.issues ?? []).toEqual([]);
});
