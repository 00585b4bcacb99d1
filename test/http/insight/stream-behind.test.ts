import { expect, it } from 'vitest';
import { openStream, shortEvents, withoutStatus } from '../../support/http/event-stream.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { linesOf, replayInto, SMALL_EPOCHS } from '../../support/views/replayed.ts';

const directory = freshDirectory();

/** Applies updates after those before, all in one transaction; `forced` seals one more snapshot behind them. */
async function apply(text: string, { forced = false } = {}): Promise<void> {
  const file = directory.writeLines('more.ndjson', linesOf(parseLedger(text), 'scan'));
  const { halted } = await replayInto(directory.at('data'), [file], { seal: forced, ...SMALL_EPOCHS });
  expect(halted).toBeNull();
}

it('sends only the newest snapshot while the service is behind, and says of which migrations others were left out', async () => {
  await apply('00:01 =a : +a alice 10\n00:11 =b : +b bob 1\n00:21 =c :');
  await using service = await startStreaming(directory.at('data'), { behindIntervalMs: 0 });
  service.set({ phase: 'reading' });
  using stream = await openStream(service.url, { owners: [partyOf('alice')] });
  await stream.until(() => withoutStatus(stream).length === 1);

  // One more is none left out.
  await apply('00:31 =d : +c alice 1');
  await stream.until(() => withoutStatus(stream).length === 2);
  // Three, of which the newest has no change of hers.
  await apply('00:41 =e : +d alice 1\n00:51 =f :\n01:01 =g :');
  await stream.until(() => withoutStatus(stream).length === 3);
  // Two migrations: of each, all but the newest of all are left out.
  await apply('01:11 =h :\n01:01 m1 =i : +e alice 2\n01:11 m1 =j :\n01:21 m1 =k : -e');
  await stream.until(() => withoutStatus(stream).length === 4);
  service.set({ phase: 'caught_up' });
  await stream.until(() => shortEvents(stream).at(-1) === 'status caught_up');
  await apply('01:31 m1 =l :\n01:21 =m : -a\n01:31 =n :');
  await stream.until(() => withoutStatus(stream).length === 9);
  expect(withoutStatus(stream)).toEqual([
    'snapshot 0 00:20',
    'snapshot 0 00:30',
    'snapshot 0 01:00 skipped true',
    'snapshot 1 01:20 skipped true',
    'owner alice 01:30',
    'snapshot 1 01:30',
    'snapshot 0 01:20 skipped true',
    'owner alice 01:30',
    'snapshot 0 01:30',
  ]);
});

it('sends what was sealed until the service caught up as the newest alone, and everything after that', async () => {
  await apply('00:01 =a : +a alice 10\n00:11 =b :');
  await using service = await startStreaming(directory.at('data'), { behindIntervalMs: 3_600_000 });
  service.set({ phase: 'reading' });
  using stream = await openStream(service.url);
  await stream.until(() => withoutStatus(stream).length === 1);
  await apply('00:21 =c :\n00:31 =d :\n00:41 =e :');
  service.set({ updates: 5, degraded: ['so that there is something to wait for'] });
  await stream.until(() => stream.named('status').length === 2);
  // Less than the interval has passed.
  expect(withoutStatus(stream)).toEqual(['snapshot 0 00:10']);
  service.set({ phase: 'caught_up' });
  await stream.until(() => withoutStatus(stream).length === 2);
  await apply('00:51 =f :\n01:01 =g :');
  await stream.until(() => withoutStatus(stream).length === 4);
  expect(withoutStatus(stream).slice(1)).toEqual([
    'snapshot 0 00:40 skipped true',
    'snapshot 0 00:50',
    'snapshot 0 01:00',
  ]);
});

it('sends a client that resumes all that it missed, also while the service is behind', async () => {
  await apply('00:01 =a : +a alice 10\n00:11 =b :\n00:21 =c : +b alice 1\n00:31 =d :\n00:41 =e :');
  await using service = await startStreaming(directory.at('data'), { behindIntervalMs: 0 });
  service.set({ phase: 'reading' });
  using stream = await openStream(service.url, { owners: [partyOf('alice')], lastEventId: '0 2025-02-12T00:10:00Z' });
  await stream.until(() => withoutStatus(stream).length === 4);
  await apply('00:51 =f :\n01:01 =g :');
  await stream.until(() => withoutStatus(stream).length === 5);
  expect(withoutStatus(stream)).toEqual([
    'snapshot 0 00:20',
    'owner alice 00:30',
    'snapshot 0 00:30',
    'snapshot 0 00:40',
    'snapshot 0 01:00 skipped true',
  ]);
});

it('sends forced snapshots in their place, without owners of their own', async () => {
  await apply('00:01 =a : +a alice 10\n00:11 =b :');
  await using service = await startStreaming(directory.at('data'));
  using stream = await openStream(service.url, { owners: [partyOf('alice')] });
  await stream.until(() => withoutStatus(stream).length === 1);
  await apply('00:12 =c : +b alice 1', { forced: true });
  await stream.until(() => withoutStatus(stream).length === 2);
  await apply('00:21 =d :\n00:31 =e :');
  await stream.until(() => withoutStatus(stream).length === 5);
  expect(withoutStatus(stream).slice(1)).toEqual([
    'snapshot 0 00:12',
    'owner alice 00:20',
    'snapshot 0 00:20',
    'snapshot 0 00:30',
  ]);
  expect(stream.named('snapshot').map(({ data }) => data.forced)).toEqual([false, true, false, false]);
});

it('looks at the movements of a thousand updates at a time while the service is behind, and sends each once, in order, before its snapshot', async () => {
  await apply('00:01 =a : +a alice 10\n00:11 =b :');
  await using service = await startStreaming(directory.at('data'), { behindIntervalMs: 0 });
  service.set({ phase: 'reading' });
  using stream = await openStream(service.url, { owners: [partyOf('alice')], events: 'movements,snapshots' });
  await stream.until(() => withoutStatus(stream).length === 1);
  const timeOf = (i: number): string => new Date(3_600_000 + i * 15_000).toISOString().slice(11, 19);
  const ofUpdates = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, i) => `${timeOf(from + i)} =u${from + i} : +c${from + i} alice 1`).join('\n');
  await apply(ofUpdates(0, 2_600));
  await stream.until(() => stream.named('movement').length === 2_600);
  await apply(ofUpdates(2_600, 2_700));
  service.set({ phase: 'caught_up' });
  await apply('23:01 =z : -a');
  await stream.until(() => shortEvents(stream).includes('movement alice z -10'));
  expect(withoutStatus(stream).filter((event) => event.startsWith('movement'))).toEqual([
    ...Array.from({ length: 2_700 }, (_, i) => `movement alice u${i} 1`),
    'movement alice z -10',
  ]);
  // Each behind the movements that it holds.
  const times = stream.events.filter(({ name }) => name !== 'status').map(({ data }) => String(data.record_time));
  expect(times).toEqual(times.toSorted());
});
