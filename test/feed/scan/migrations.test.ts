import { describe, expect, it } from 'vitest';
import { serveScan } from '../../support/feed/serve.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { activeContracts, seedImports } from '../../support/scan/active-contracts.ts';
import { freshScan } from '../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../support/scan/ledger.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
const data = (): string => directory.at('data');

const LINES = scanLedger(61, 120);
const [BEFORE, AFTER] = [
  LINES.slice(0, 70),
  LINES.slice(70).map((line) => line.replace('"migration_id":0', '"migration_id":1')),
];
/** What is carried over, as a prepared file has it. */
const IMPORTS = seedImports(activeContracts(BEFORE, { migrationId: 0, recordTime: timeOf(BEFORE.at(-1)!) }), 1).map(
  (line) => line.replace('"seed":true,', ''),
);
const REFUSED =
  /^the network goes on in migration 1, and a Scan does not give what was carried over into it: begin a new/;

const options = (more: object = {}): Record<string, unknown> => ({ data: data(), scan: scan.url, ...more });
const reasons = (text: RegExp): object => ({ reasons: expect.arrayContaining([expect.stringMatching(text)]) });

describe('a network that goes on in a later migration', () => {
  it('is read to the end of the earlier one and then refused, until files bring what was carried over', async () => {
    scan.add(...BEFORE.slice(0, 40));
    {
      await using service = await serveScan(options({ start: 'beginning' }));
      await service.until('/readyz', { ready: true });
      scan.add(...BEFORE.slice(40), ...AFTER);
      scan.change({ migrationId: 1 });
      await service.until('/readyz', reasons(REFUSED));
      await service.until('/status', { phase: 'refused', counts: { updates: BEFORE.length } });
    }
    const carried = directory.writeLines('carried.ndjson', [...IMPORTS, ...AFTER.slice(0, 10)]);
    expect(await holdfast('replay', carried, '--data', data())).toMatchObject({ code: 0 });
    {
      await using service = await serveScan(options());
      await service.until('/readyz', { ready: true });
    }
    const wanted = directory.writeLines('wanted.ndjson', [...BEFORE, ...IMPORTS, ...AFTER]);
    expect(await replayInto(directory.at('wanted'), [wanted], { dso: DSO })).toMatchObject({ halted: null });
    expect(dumpViews(data())).toEqual(dumpViews(directory.at('wanted')));
  });

  it('is not read by a Scan that is still in the earlier one', async () => {
    await replayInto(data(), [directory.writeLines('new.ndjson', [...IMPORTS, ...AFTER])], { dso: DSO });
    scan.add(...BEFORE);
    await using service = await serveScan(options());
    await service.until(
      '/readyz',
      reasons(/is in migration 0, and what is here is of migration 1: name a Scan of the same/),
    );
  });
});
