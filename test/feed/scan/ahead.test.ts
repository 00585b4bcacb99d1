import { describe, expect, it } from 'vitest';
import { serveScan } from '../../support/feed/serve.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { startFakeScan } from '../../support/scan/server.ts';

const LINES = scanLedger(51, 100);
const [FIRST, LATER, LAST] = [LINES.slice(0, 60), LINES.slice(60, 80), LINES.slice(80)];
const AHEAD = FIRST.at(-1)!
  .replaceAll(timeOf(FIRST.at(-1)!), '2199-01-01T00:00:00.000000Z')
  .replace(/"update_id":"[^"]*"/, '"update_id":"1220bad"')
  .replace(/"synchronizer_id":"[^"]*"/, '"synchronizer_id":7');

describe('a bad update with a time that cannot be yet', () => {
  it.each([1, 2])('moves no place: what follows it is read, also after a restart (--scan-agree %i)', async (agree) => {
    using directory = temporaryDirectory();
    await using scan = await startFakeScan({ migrationId: 0, lines: [...FIRST, AHEAD] });
    await using other = await startFakeScan({ migrationId: 0, lines: [...FIRST, AHEAD] });
    const urls = agree === 1 ? scan.url : `${scan.url},${other.url}`;
    const add = (lines: readonly string[]): void => {
      for (const each of [scan, other]) each.add(...lines);
    };
    const options = {
      data: directory.at('data'),
      scan: urls,
      scanAgree: String(agree),
      start: 'beginning',
      onBadUpdate: 'quarantine',
    };
    {
      await using service = await serveScan(options);
      await service.until('/readyz', { degraded: [expect.stringContaining('quarantined')] });
      add(LATER);
      await service.until('/status', { counts: { updates: FIRST.length + LATER.length } });
    }
    add(LAST);
    await using service = await serveScan(options);
    await service.until('/status', { counts: { updates: LAST.length } });
    await service.until('/status', { source: { position: expect.stringContaining(timeOf(LINES[99]!).slice(0, 19)) } });
  });
});
