import { expect, it } from 'vitest';
import { openStream } from '../../support/http/event-stream.ts';
import { fixture } from '../../support/http/expected-answers.ts';
import { makeDataDirectory, STATUS } from '../../support/http/holdings-service.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const FIRST = { ...STATUS, lag_seconds: 0 };

it('sends a change of phase, halt or degradation at once, and other changes with it', async () => {
  await using service = await startStreaming(dataDir, { statusIntervalMs: 3_600_000 });
  using stream = await openStream(service.url);
  await stream.until(() => stream.named('snapshot').length === 1);
  const changes = [
    { phase: 'reading', lag_seconds: 12.5, updates: 7 },
    { phase: 'halted', halted: { place: 'a file, message 3', reason: 'it is bad' }, updates: 8 },
    { halted: { place: 'a file, message 4', reason: 'it is bad' } },
    { phase: 'reading', halted: null, degraded: ['1 update is quarantined'] },
    { ready: false, reasons: ['the network cannot be read'] },
    { source: 'https://scan.example' },
  ] as const;
  let wanted: object = FIRST;
  const all = [wanted];
  for (const change of changes) {
    service.set({ updates: 1_000_000 });
    service.set({ updates: 0, ...change } as never);
    wanted = { ...wanted, updates: 0, ...change };
    all.push(wanted);
    await stream.until(() => stream.named('status').length === all.length);
  }
  expect(stream.named('status').map(({ data }) => data)).toEqual(all);
});

it('sends the number of updates and the reasons in their turn, and nothing where they are the same', async () => {
  await using service = await startStreaming(dataDir, { statusIntervalMs: 100 });
  using stream = await openStream(service.url);
  await stream.until(() => stream.named('status').length === 1);
  service.set({ updates: 7, lag_seconds: 3 });
  await stream.until(() => stream.named('status').length === 2);
  service.set({ lag_seconds: 4 });
  using later = await openStream(service.url);
  await later.until(() => later.events.length === 2);
  service.set({ updates: 8 });
  await stream.until(() => stream.named('status').length === 3);
  service.set({ lag_seconds: 5, reasons: ['the file was not applied to its end for 2 s'] });
  await stream.until(() => stream.named('status').length === 4);
  expect(stream.named('status').map(({ data }) => [data.updates, data.lag_seconds])).toEqual([
    [0, 0],
    [7, 3],
    [8, 4],
    [8, 5],
  ]);
});

it('sends a comment where there is nothing else to send', async () => {
  await using service = await startStreaming(dataDir, { silenceMs: 50 });
  using stream = await openStream(service.url);
  await stream.until(() => stream.text.endsWith('\n\n:\n\n:\n\n:\n\n'));
  expect(stream.events.map(({ name }) => name)).toEqual(['status', 'snapshot']);
});
