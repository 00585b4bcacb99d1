import { expect, it } from 'vitest';
import { openStream } from '../../support/http/event-stream.ts';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';
import { allRows, type Row } from '../../support/http/table-pages.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const directory = freshDirectory();

it.each([1, 2, 3])(
  'from any snapshot of random ledger %i on gives the rows of the tables, in one order',
  async (seed) => {
    const random = createRandom(seed);
    const options = { migrations: 1 + (seed % 3), carriedOver: seed % 2 === 0 ? 15 : 0, shares: { checkpoint: 0 } };
    const items = [...randomLedger(oddLedger(seed, { ...options, updates: 250 }))];
    const cuts = Array.from({ length: 4 }, () => 1 + random.below(items.length)).sort((a, b) => a - b);
    const { dataDir, snapshots } = await replayWithForced(directory, items, cuts);
    const owners = [...new Set(snapshots.flatMap((each) => [...each.owners.keys()]))].slice(0, 100);
    using tables = openHoldings(dataDir);
    await using service = await startStreaming(dataDir);
    /** Rows of a table in all migrations, in order of time. */
    const rows = async (path: string, fields: Row): Promise<Row[]> => {
      const ids = [...new Set(snapshots.map(({ migrationId }) => migrationId))];
      const all = ids.map(async (migration_id) => {
        const found = await allRows(tables.app, `/holdfast/v1/${path}`, { migration_id, order: 'asc', limit: 1000 });
        return found.map((row) => ({ migration_id, ...fields, ...row }));
      });
      return (await Promise.all(all)).flat();
    };
    const idOf = ({ migration_id, record_time }: Row): string => `${migration_id} ${record_time}`;
    const expected = new Map((await rows('snapshots', {})).map((row) => [idOf(row), row]));
    const changes = await Promise.all(owners.map((party_id) => rows(`owners/${party_id}/changes`, { party_id })));
    const changesAt = Map.groupBy(changes.flat(), idOf);

    let whole: string[] = [];
    const ids = [...expected.keys()];
    for (const lastEventId of [ids[0]!, ...Array.from({ length: 5 }, () => random.pick(ids))]) {
      using newest = await openStream(service.url);
      await newest.until(() => newest.events.length === 2);
      const last = newest.events[1]!.id!;
      if (last === lastEventId) continue;
      using stream = await openStream(service.url, { owners, lastEventId });
      await stream.until(() => stream.events.at(-1)?.id === last);
      const sent = stream.named('snapshot').map(({ id }) => id!);
      if (whole.length === 0) whole = [lastEventId, ...sent];
      if (whole.includes(lastEventId)) expect(sent).toEqual(whole.slice(whole.indexOf(lastEventId) + 1));
      const wanted = sent.flatMap((id) => [...(changesAt.get(id) ?? []), expected.get(id)!]);
      expect(stream.named('owner', 'snapshot').map(({ data }) => data)).toEqual(wanted);
    }
    expect(whole.length).toBeGreaterThan(20);
  },
);
