import { describe, it } from 'vitest';
import { serveScan } from '../../support/feed/serve.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { startFakeScan } from '../../support/scan/server.ts';

const LINES = scanLedger(51, 100);
const [FIRST, LATER, LAST] = [LINES.slice(0, 60), LINES.slice(60, 80), LINES.slice(80)];
/** The last update of the first part at another time. */
const updateAt = (time: string): string =>
  FIRST.at(-1)!
    .replaceAll(timeOf(FIRST.at(-1)!), time)
    .replace(/"update_id":"[^"]*"/, `"update_id":"1220bad${time}"`);
/** What makes it bad stands where its place is read. */
const badAt = (time: string): string => updateAt(time).replace(/"synchronizer_id":"[^"]*"/, '"synchronizer_id":7');
/** Its place can be read; only decoding it shows that it is bad. */
const badWithinAt = (time: string): string =>
  JSON.stringify({ ...(JSON.parse(updateAt(time)) as object), root_event_ids: ['1220bad:7'] });
/** It can be decoded, and what it archives was never there. */
const unknownAt = (time: string): string =>
  JSON.stringify({
    ...(JSON.parse(badAt(time)) as object),
    synchronizer_id: 'dritte::1220dd',
    root_event_ids: ['1220bad:0'],
    events_by_id: {
      '1220bad:0': {
        ...{ event_type: 'exercised_event', event_id: '1220bad:0', contract_id: '00bad', choice: 'Archive' },
        ...{ template_id: 'p:Splice.Amulet:Amulet', package_name: 'splice-amulet', choice_argument: {} },
        ...{ child_event_ids: [], exercise_result: {}, consuming: true, acting_parties: [], interface_id: null },
      },
    },
  });
const SOON = new Date(Date.now() + 30 * 60_000).toISOString();

const TIMES = ['2025-12-31T00:00:00.000000Z', SOON, '2199-01-01T00:00:00.000000Z'];
const BAD = [badAt, badWithinAt].flatMap((bad, i) => TIMES.map((time) => bad(time.replace('00.', `0${i}.`))));
const ALL_BAD = [...BAD, unknownAt('2025-12-30T00:00:00.000000Z')];

describe('bad updates with times ahead of what a Scan has, and of our clock', () => {
  it('move no place: what follows is read, also after a restart', async () => {
    using directory = temporaryDirectory();
    await using scan = await startFakeScan({ migrationId: 0, lines: [...FIRST, ...ALL_BAD] });
    const options = {
      data: directory.at('data'),
      scan: scan.url,
      start: 'beginning',
      onBadUpdate: 'quarantine',
    };
    {
      await using service = await serveScan(options);
      await service.until('/status', { dead_letters: { quarantined: ALL_BAD.length } });
      scan.add(...LATER);
      await service.until('/status', { counts: { updates: FIRST.length + LATER.length } });
    }
    scan.add(...LAST);
    await using service = await serveScan(options);
    await service.until('/status', { counts: { updates: LAST.length } });
  });

  it('move no place before the first good update: after an answer that fails, all is asked for again', async () => {
    using directory = temporaryDirectory();
    await using scan = await startFakeScan({ migrationId: 0, lines: [badWithinAt(TIMES[0]!)] });
    const options = { scan: scan.url, scanPageSize: '10', start: 'beginning', onBadUpdate: 'quarantine' };
    await using service = await serveScan({ ...options, data: directory.at('data') });
    await service.until('/status', { dead_letters: { quarantined: 1 } });
    scan.fail('/v2/updates', { status: 503, body: { error: 'soon' } }, 2);
    scan.add(...FIRST);
    await service.until('/status', { counts: { updates: FIRST.length } });
  });
});
