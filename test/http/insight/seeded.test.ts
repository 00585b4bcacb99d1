import { expect, it } from 'vitest';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { askTable, readTable } from '../../support/http/table-pages.ts';
import { parseLedger } from '../../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { seededFeed } from '../../support/scan/active-contracts.ts';
import { linesOf, replayInto } from '../../support/views/replayed.ts';

const directory = freshDirectory();

it('says when the views of a migration began with the active contracts of a node, and of no other', async () => {
  const lines = linesOf(
    parseLedger('00:01 : +a alice 10\n00:12 : -a ; +b bob 5\n00:21 :\n00:31 :\n00:41 m1 :\n00:51 m1 :'),
    'scan',
  );
  const recordTime = '2025-02-12T00:15:00.000000Z';
  const feed = directory.writeLines('feed.ndjson', seededFeed(lines, { recordTime }));
  expect((await replayInto(directory.at('data'), [feed])).halted).toBeNull();
  using service = openHoldings(directory.at('data'));
  const headOf = async (migration_id: number): Promise<object> =>
    readTable(await (await askTable(service.app, '/holdfast/v1/snapshots', { migration_id })).text()).head;
  expect(await headOf(0)).toMatchObject({ migration_id: 0, seeded_at: '2025-02-12T00:15:00Z' });
  expect(await headOf(1)).toMatchObject({ migration_id: 1, seeded_at: null });
});
