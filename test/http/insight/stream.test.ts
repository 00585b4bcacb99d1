import { expect, it } from 'vitest';
import {
  type EventStream,
  openStream,
  type StreamOptions,
  shortEvents,
  withoutStatus,
} from '../../support/http/event-stream.ts';
import { STATUS } from '../../support/http/holdings-service.ts';
import { type LiveService, startLiveService } from '../../support/http/live-service.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { linesOf } from '../../support/views/replayed.ts';

const directory = freshDirectory();
const lines = (text: string): readonly string[] => linesOf(parseLedger(text), 'scan');
const [ALICE, BOB] = [partyOf('alice'), partyOf('bob')];

/** A stream that was sent the end of what is sealed. */
async function streamTo(service: LiveService, time: string, options: StreamOptions = {}): Promise<EventStream> {
  const stream = await openStream(service.url, options);
  await stream.until(() => shortEvents(stream).some((each) => new RegExp(`^(snapshot|reset) .*${time}`).test(each)));
  return stream;
}

const FIRST = lines('00:01 : +a alice 10\n00:02 : +b bob 5\n00:11 : +c alice 7\n00:21 : -b');

it('begins with the status and the newest snapshot, and goes on with what is sealed and applied', async () => {
  await using service = await startLiveService(directory, { lines: FIRST });
  await service.untilApplied(4);
  using stream = await streamTo(service, '00:20', { owners: [BOB, ALICE] });
  expect(shortEvents(stream)).toEqual(['status caught_up', 'snapshot 0 00:20']);
  service.network.add(...lines('00:31 : +d alice 1\n00:41 : +e bob 1 ; +f alice 2\n01:11 :'));
  await stream.until(() => shortEvents(stream).includes('snapshot 0 01:10'));
  expect(withoutStatus(stream)).toEqual([
    'snapshot 0 00:20',
    'owner bob 00:30',
    'snapshot 0 00:30',
    'owner alice 00:40',
    'snapshot 0 00:40',
    'owner bob 00:50',
    'owner alice 00:50',
    'snapshot 0 00:50',
    'snapshot 0 01:00',
    'snapshot 0 01:10',
  ]);
  await stream.until(() => stream.named('status').at(-1)!.data.updates === 7);
});

it('sends what /snapshots and /changes answer, field for field', async () => {
  await using service = await startLiveService(directory, { lines: FIRST });
  await service.untilApplied(4);
  using stream = await streamTo(service, '00:20', { owners: [ALICE], lastEventId: '0 2025-02-12T00:10:00Z' });
  const [owner, snapshot] = stream.events.filter(({ name }) => name !== 'status');
  const range = 'migration_id=0&from=2025-02-12T00:20:00Z&to=2025-02-12T00:20:00Z';
  const { snapshots } = (await service.get(`/holdfast/v1/snapshots?${range}`)) as { snapshots: object[] };
  const { changes } = (await service.get(`/holdfast/v1/owners/${ALICE}/changes?${range}`)) as { changes: object[] };
  const inOrder = (value: unknown): string => JSON.stringify(value);
  expect(inOrder(snapshot!.data)).toBe(inOrder({ migration_id: 0, ...snapshots[0] }));
  expect(snapshot).toMatchObject({ name: 'snapshot', id: '0 2025-02-12T00:20:00Z' });
  expect(inOrder(owner!.data)).toBe(inOrder({ migration_id: 0, party_id: ALICE, ...changes[0] }));
  expect(owner).toMatchObject({ name: 'owner', id: null });
  expect(stream.named('status')[0]).toEqual({
    name: 'status',
    id: null,
    data: { ...STATUS, updates: 4, source: 'network' },
  });
  expect(inOrder(Object.keys(stream.named('status')[0]!.data))).toBe(
    inOrder(['phase', 'lag_seconds', 'updates', 'halted', 'degraded', 'ready', 'reasons', 'source']),
  );
});

it('resumes by the header or by the parameter; the header counts, and an empty one is none', async () => {
  await using service = await startLiveService(directory, { lines: FIRST });
  await service.untilApplied(4);
  const [first, none] = ['0 2025-02-12T00:10:00Z', 'no id'];
  for (const options of [
    { lastEventId: first },
    { lastEventIdParameter: first },
    { lastEventId: first, lastEventIdParameter: none },
    { lastEventId: '', lastEventIdParameter: first },
  ]) {
    using stream = await streamTo(service, '00:20', { ...options, owners: [ALICE] });
    expect(shortEvents(stream)).toEqual(['status caught_up', 'owner alice 00:20', 'snapshot 0 00:20']);
  }
  using begun = await streamTo(service, '00:20', { lastEventIdParameter: '', owners: [ALICE] });
  expect(shortEvents(begun)).toEqual(['status caught_up', 'snapshot 0 00:20']);
});

it('sends a reset with the newest snapshot to a client with an id that is unknown or unreadable', async () => {
  await using service = await startLiveService(directory, { lines: FIRST });
  await service.untilApplied(4);
  const unknown = ['0 2025-02-12T00:15:00Z', '7 2025-02-12T00:10:00Z', '0 9999-01-01T00:00:00Z'];
  for (const lastEventId of [...unknown, 'x', '0  2025-02-12T00:10:00Z', '0 2025-02-12T00:10:00Z 1']) {
    using stream = await streamTo(service, '00:20', { lastEventId, owners: [ALICE] });
    expect(shortEvents(stream)).toEqual(['status caught_up', 'reset 0 00:20']);
    expect(stream.named('reset')[0]!.id).toBe('0 2025-02-12T00:20:00Z');
  }
  using stream = await streamTo(service, '00:20', { lastEventId: 'x', owners: [ALICE] });
  service.network.add(...lines('00:31 : +d alice 1\n00:41 :'));
  await stream.until(() => shortEvents(stream).includes('snapshot 0 00:40'));
  expect(withoutStatus(stream).slice(1)).toEqual(['snapshot 0 00:30', 'owner alice 00:40', 'snapshot 0 00:40']);
});

it('resets a client that is more than 1000 snapshots behind, and no other', async () => {
  // The first snapshot is that of 00:10, and 1001 more are sealed by the last update.
  const jump = lines('00:11 :').map((line) => line.replaceAll('2025-02-12T00:11', '2025-02-19T00:01'));
  await using service = await startLiveService(directory, { lines: [...FIRST, ...jump] });
  await service.untilApplied(5);
  const newest = '2025-02-19T00:00:00Z';
  using last = await openStream(service.url, { lastEventId: '0 2025-02-12T01:20:00Z' });
  await last.until(() => last.events.at(-1)?.id === `0 ${newest}`);
  expect(last.named('snapshot')).toHaveLength(1000);
  expect(last.named('reset')).toEqual([]);
  using late = await openStream(service.url, { lastEventId: '0 2025-02-12T01:10:00Z' });
  await late.until(() => late.events.length > 1);
  expect(late.events.map(({ name, id }) => [name, id])).toEqual([
    ['status', null],
    ['reset', `0 ${newest}`],
  ]);
});

it('follows the order of sealing where an older migration still seals', async () => {
  const text = `
    00:01 : +a alice 10
    00:11 m1 : +b bob 5
    00:21 m1 :
    00:12 : -a
    00:31 m1 : -b
    00:32 : +c alice 2`;
  const items = lines(text);
  // The network gives updates by migration and time, and this is not that order: a file has any.
  const file = [directory.writeLines('feed.ndjson', items)];
  await using service = await startLiveService(directory, { file });
  await service.untilApplied(6);
  const inOrder = ['1 00:20', '0 00:10', '1 00:30', '0 00:20', '0 00:30'];
  const sealed = inOrder.map((each) => `snapshot ${each}`);
  using whole = await streamTo(service, '0 00:30', { lastEventId: '1 2025-02-12T00:20:00Z' });
  expect(withoutStatus(whole)).toEqual(sealed.slice(1));
});
