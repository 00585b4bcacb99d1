import { describe, expect, it } from 'vitest';
import { serveScan } from '../../support/feed/serve.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });

/** The same updates at times of one minute, a millisecond apart; those of equal times stay so. The first are a snapshot earlier. */
function withinAMinute(lines: readonly string[]): string[] {
  let [count, last] = [0, ''];
  return lines.map((line) => {
    if (timeOf(line) !== last) count += 1;
    last = timeOf(line);
    const ms = `${20 + Math.floor(count / 1000)}.${String(count % 1000).padStart(3, '0')}000`;
    const hour = count < 10 ? '09' : '10';
    return line.replace(`"record_time":"${last}"`, `"record_time":"2025-02-01T${hour}:00:${ms}Z"`);
  });
}

/** Follows the Scan, to which the last updates are added once the ones before are read. */
async function expectFollowed(lines: readonly string[], more: object): Promise<void> {
  const [before, after] = [lines.slice(0, -20), lines.slice(-20)];
  scan.add(...before);
  const data = directory.at('data');
  await using service = await serveScan({ data, scan: scan.url, start: 'beginning', ...more });
  await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: before.length } });
  for (const line of after) scan.add(line);
  await service.until('/status', { source: { network: { lag_seconds: 0 } }, counts: { updates: lines.length } });
  await service.until('/readyz', { ready: true });
  await service[Symbol.asyncDispose]();
  await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', lines)], { dso: DSO });
  expect(dumpViews(data)).toEqual(dumpViews(directory.at('wanted')));
}

describe('a poll at the end, which begins a minute back', () => {
  it('goes on over 1,500 updates of that minute in pages of 500', async () => {
    await expectFollowed(withinAMinute(scanLedger(91, 1_500)), { scanPageSize: '500' });
  });

  it('goes on where a proxy caps pages', async () => {
    scan.change({ pageCap: 10 });
    await expectFollowed(withinAMinute(scanLedger(92, 150)), { scanPageSize: '500' });
  });

  it('goes on over 1,500 updates of that minute where a proxy caps pages at 500', async () => {
    scan.change({ pageCap: 500 });
    await expectFollowed(withinAMinute(scanLedger(91, 1_500)), { scanPageSize: '1000' });
  });

  it('misses no update of two at one time where a proxy cuts between them', async () => {
    scan.change({ pageCap: 3 });
    await expectFollowed(scanLedger(93, 60), {});
  });

  it('is refused where a proxy gives one update a page: another one may have its time', async () => {
    scan.change({ pageCap: 1 });
    scan.add(...scanLedger(94, 40));
    const data = directory.at('data');
    await using service = await serveScan({ data, scan: scan.url, start: 'beginning' });
    await service.until('/readyz', {
      ready: false,
      reasons: expect.arrayContaining([expect.stringMatching(/^.* one record time/)]),
    });
  });
});
