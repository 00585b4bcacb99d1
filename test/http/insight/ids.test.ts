import { afterAll, expect, it, test } from 'vitest';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { allRows, askTable, type Row, readTable } from '../../support/http/table-pages.ts';
import type { HistoryItem } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { type Format, linesOf, replayInto, SMALL_EPOCHS } from '../../support/views/replayed.ts';

const V1 = '/holdfast/v1';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const idPath = (id: unknown): string => `${V1}/ids/${encodeURIComponent(String(id))}`;
const units = (amount: unknown): bigint => BigInt(String(amount).replace(/[-.]/g, ''));

async function replayed(name: string, items: Iterable<HistoryItem>, format: Format): Promise<string> {
  const dataDir = folder.at(name);
  const { halted } = await replayInto(
    dataDir,
    [folder.writeLines(`${name}.ndjson`, linesOf(items, format))],
    SMALL_EPOCHS,
  );
  if (halted !== null) throw new Error(`the feed was halted: ${halted.reason}`);
  return dataDir;
}

const seeds = Array.from({ length: soakCount(2) }, (_, seed) => seed + 1);
test.each(seeds)('an id finds what its update moved, or whose its contract is: random ledger %i', async (seed) => {
  const ledger = randomLedger(oddLedger(seed + 700, { updates: 150 }));
  using service = openHoldings(await replayed(`random-${seed}`, ledger, 'scan'));
  const { app } = service;
  const { migration_id } = readTable(await (await askTable(app, `${V1}/snapshots`)).text()).head;
  const movements = await allRows(app, `${V1}/movements`, { migration_id, limit: 1000 });
  const updates = Map.groupBy(movements, ({ update_id }) => update_id);
  expect(updates.size).toBeGreaterThan(10);
  for (const [id, moved] of updates) {
    const found = await allRows(app, idPath(id), {});
    expect(found.map(({ kind, snapshot }) => [kind, snapshot])).toEqual(found.map(() => ['update', null]));
    const changes = (rows: readonly Row[], prefix: string): unknown[] =>
      rows.map((row) => [
        row.party_id,
        row.record_time,
        ...['unlocked', 'locked', 'total'].map((each) => row[prefix + each]),
      ]);
    const ofCoin = found.filter(({ instrument_id }) => instrument_id === 'Amulet');
    expect(changes(ofCoin, '').sort()).toEqual(changes(moved, 'change_').sort());
    const sizes = found.map(({ total }) => units(total));
    expect(sizes).toEqual(sizes.toSorted((a, b) => Number(b - a)));
  }

  const snapshots = await allRows(app, `${V1}/snapshots`, { migration_id, order: 'asc', limit: 1000 });
  const newest = new Map<unknown, Row>();
  for (const { record_time } of snapshots) {
    const owners = await allRows(app, `${V1}/owners`, { migration_id, record_time: String(record_time), limit: 1000 });
    if (owners.length === 0) continue;
    const response = await app.request('/v1/holdings/state', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        migration_id,
        record_time,
        owner_party_ids: owners.map(({ party_id }) => party_id),
        page_size: 1000,
      }),
    });
    const { created_events: contracts } = (await response.json()) as { created_events: Row[] };
    for (const { contract_id, created_at } of contracts)
      newest.set(contract_id, { kind: 'contract', migration_id, record_time: created_at, snapshot: record_time });
  }
  expect(newest.size).toBeGreaterThan(10);
  for (const [id, wanted] of newest) expect(await allRows(app, idPath(id), {})).toMatchObject([wanted]);
});

it('finds tokens, and nothing of an id that is none', async () => {
  const ledger = parseLedger(`00:01 : +t alice 5 USDC@registry by bob id savings ; +u bob 3 USDC@registry
    00:12 : -u ; +v alice 3 USDC@registry
    00:31 :`);
  using service = openHoldings(await replayed('tokens', ledger, 'ledger-api'));
  const find = (id: string): Promise<readonly Row[]> => allRows(service.app, idPath(id), {});
  const of = { migration_id: 0, instrument_admin: partyOf('registry'), instrument_id: 'USDC' };
  const moved = {
    kind: 'update',
    record_time: '2025-02-12T00:12:00Z',
    snapshot: null,
    ...of,
    provider: null,
    account_id: '',
  };
  expect(await find('u2')).toEqual([
    { ...moved, party_id: partyOf('alice'), unlocked: '3.0000000000', locked: '0.0000000000', total: '3.0000000000' },
    { ...moved, party_id: partyOf('bob'), unlocked: '-3.0000000000', locked: '0.0000000000', total: '-3.0000000000' },
  ]);
  expect(await find('0074')).toMatchObject([
    { kind: 'contract', ...of, party_id: partyOf('alice'), provider: partyOf('bob'), snapshot: '2025-02-12T00:30:00Z' },
  ]);
  expect(await find('0075')).toMatchObject([
    { party_id: partyOf('bob'), snapshot: '2025-02-12T00:10:00Z', total: '3.0000000000' },
  ]);
  for (const id of ['nothing', '1220', '%', "' OR 1"]) expect(await find(id)).toEqual([]);
  expect((await service.app.request(`${V1}/ids/${'a'.repeat(256)}`)).status).toBe(400);
});
