import { describe, expect, it } from 'vitest';
import { openStream, shortEvents } from '../../support/http/event-stream.ts';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { startStreaming } from '../../support/http/streaming-service.ts';
import { askTable, type Row, readTable } from '../../support/http/table-pages.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { type Format, linesOf, replayInto } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const folder = freshDirectory();
const [ALICE, BOB, REGISTRY] = [partyOf('alice'), partyOf('bob'), partyOf('registry')];
const USDC = { instrument_admin: REGISTRY, instrument_id: 'USDC' };

async function apply(ledger: string, format: Format = 'ledger-api', migrationId: number | null = null): Promise<void> {
  const lines = linesOf(parseLedger(ledger), format);
  const feed = folder.writeLines(`feed-${Math.random()}.ndjson`, lines);
  const { halted } = await replayInto(folder.at('data'), [feed], { migrationId });
  expect(halted).toBeNull();
}

/** The rows of a table of a directory, or what is wrong with the question. */
async function rowsOf(path: string, given: Row = {}, dataDir = folder.at('data')): Promise<readonly Row[] | string> {
  using service = openHoldings(dataDir);
  const response = await askTable(service.app, `/holdfast/v1/${path}`, given);
  return response.status === 200 ? readTable(await response.text()).rows : await response.text();
}

const own = (table: string, party = ALICE): string => `owners/${encodeURIComponent(party)}/${table}`;

describe('tokens', () => {
  it('of several migrations of one directory are told apart', async () => {
    await apply('import : +a alice 5 USDC@registry ; +b bob 1 CBTC@registry', 'participant');
    // Only imports of the form that names a migration show views, and only one migration has updates of the other form.
    await apply('00:02 :\n00:21 :', 'scan');
    await apply(
      '00:31 m1 : +c alice 7 USDC@registry ; +d bob 2 EURC@registry\n00:42 m1 : -c\n01:01 m1 :',
      'ledger-api',
      1,
    );
    const ids = async (given: Row) =>
      ((await rowsOf('instruments', given)) as Row[]).map(({ id, total }) => `${id} ${total}`);
    expect(await ids({ migration_id: 0 })).toEqual(['CBTC 1.0000000000', 'USDC 5.0000000000']);
    expect(await ids({})).toEqual(['EURC 2.0000000000', 'USDC 0.0000000000']);
    const at = { migration_id: 1, record_time: '2025-02-12T00:40:00Z' };
    expect(await ids(at)).toEqual(['EURC 2.0000000000', 'USDC 7.0000000000']);
    expect(await rowsOf(own('instruments'), at)).toMatchObject([{ id: 'USDC', total: '7.0000000000' }]);
    expect(await rowsOf(own('instruments'), { migration_id: 0 })).toMatchObject([
      { id: 'USDC', total: '5.0000000000' },
    ]);
    expect(await rowsOf('top', { ...USDC, migration_id: 0 })).toMatchObject([
      { party_id: ALICE, share: '1.0000000000' },
    ]);
    expect(await rowsOf('top', USDC)).toEqual([]);
    expect(await rowsOf(own('movements'), USDC)).toMatchObject([
      { change_total: '-7.0000000000', total: '0.0000000000' },
      { change_total: '7.0000000000', total: '7.0000000000' },
    ]);
    const cbtc = { ...USDC, instrument_id: 'CBTC' };
    expect(await rowsOf('top', { ...cbtc, migration_id: 0 })).toMatchObject([{ party_id: BOB }]);
    expect(await rowsOf('top', cbtc)).toBe(
      `{"error":"No instrument CBTC of ${REGISTRY} in migration 1","code":"missing"}`,
    );
  });

  it('without an owner count whoever is followed, and are on no page of an owner', async () => {
    const items =
      parseLedger(`00:01 : +a alice 5 USDC@registry ; +b bob 3 USDC@registry ; +n none 2 USDC@registry by bob id escrow
      00:12 : -n ; +m none 1 USDC@registry by bob id escrow
      00:21 :`);
    const { dataDir } = await replayWithForced(folder, items, [], 'ledger-api', [ALICE]);
    const ask = (path: string, given: Row = USDC) => rowsOf(path, given, dataDir);
    expect(await ask('instruments', {})).toMatchObject([
      { id: 'USDC', total: '6.0000000000', owners: 1, contracts: 2, scope: 'followed' },
    ]);
    expect(await ask('owners')).toMatchObject([{ party_id: ALICE, total: '5.0000000000' }]);
    expect(await ask('top')).toMatchObject([{ party_id: ALICE, share: '0.8333333333' }]);
    expect(await ask('movements')).toMatchObject([
      { party_id: null, provider: BOB, account_id: 'escrow', change_total: '-1.0000000000', total: '1.0000000000' },
      { party_id: ALICE, others: [{ party_id: null, provider: BOB, account_id: 'escrow' }] },
      { party_id: null, others: [{ party_id: ALICE, provider: null }] },
    ]);
    expect(await ask(own('history', BOB))).toContain('not followed');
  });

  it('in more than 1000 accounts of a party are added up, and the largest are listed', async () => {
    const made = Array.from(
      { length: 1_002 },
      (_, i) => `+t${i} alice ${i} USDC@registry id ${String(i).padStart(4, '0')}`,
    );
    await apply(`00:01 : ${made.join(' ; ')}\n00:12 : -t1001\n00:21 :`);
    const at = (record_time: string) => rowsOf(own('instruments'), { record_time });
    const before = (await at('2025-02-12T00:10:00Z')) as [Row & { accounts: Row[] }];
    expect(before).toMatchObject([
      { total: `${(1_001 * 1_002) / 2}.0000000000`, contracts: 1_002, accounts_total: 1_002 },
    ]);
    expect(before[0].accounts).toHaveLength(1_000);
    expect([before[0].accounts[0], before[0].accounts.at(-1)]).toMatchObject([{ id: '0002' }, { id: '1001' }]);
    // One that is empty now is still listed, with the smallest.
    const [after] = (await at('2025-02-12T00:20:00Z')) as [Row & { accounts: Row[] }];
    expect(after).toMatchObject({ total: '500500.0000000000', contracts: 1_001, accounts_total: 1_002 });
    expect([after.accounts[0], after.accounts.at(-1)]).toMatchObject([{ id: '0001' }, { id: '1000' }]);
    const verified = await holdfast('verify', '--data', folder.at('data'));
    expect(verified).toMatchObject({ code: 0, stdout: 'equal: 2 snapshots, 1 owner\n' });
    const { length } = (await rowsOf(own('movements'), { ...USDC, limit: 1_000 })) as readonly Row[];
    expect(length).toBe(1_000);
  });

  it('reach an open stream with the first deposit of their instrument', async () => {
    await apply('00:01 : +a alice 5 USDC@registry\n00:11 :');
    await using service = await startStreaming(folder.at('data'));
    const given = { instrument_admin: REGISTRY, instrument_id: 'EURC' };
    const body = { owners: [BOB], events: 'movements,snapshots', ...given };
    using stream = await openStream(service.url, { body });
    await stream.until(() => shortEvents(stream).includes('snapshot 0 00:10'));
    await apply('00:12 : +b bob 7 EURC@registry ; +c bob 1 USDC@registry\n00:21 :');
    await stream.until(() => shortEvents(stream).includes('snapshot 0 00:20'));
    const events = stream.events.filter(({ name }) => name === 'movement' || name === 'owner');
    expect(events).toMatchObject([
      { name: 'movement', data: { party_id: BOB, ...given, change_total: '7.0000000000', total: '7.0000000000' } },
      { name: 'owner', data: { party_id: BOB, ...given, total: '7.0000000000' } },
    ]);
  });

  it('are printed with what the operator calls their instruments, but not for programs', async () => {
    await apply('00:01 : +a alice 5 USDC@registry ; +b alice 1 EURC@registry\n00:11 :');
    const usdc = { admin: REGISTRY, id: 'USDC', symbol: 'USDCx', name: 'US dollar coin', decimals: 2 };
    const names = ['--instruments', folder.writeLines('names.json', [JSON.stringify([usdc])])];
    const print = async (...line: readonly string[]) => (await holdfast(...line, '--data', folder.at('data'))).stdout;
    const rows = (await print('instruments', ...names)).split('\n');
    expect(rows.find((row) => row.includes('USDC '))).toMatch(/ USDC +USDCx +US dollar coin +5\.0+ /);
    expect(rows.find((row) => row.includes('EURC '))).toMatch(/ EURC +1\.0+ /);
    expect(await print('instruments', '--owner', ALICE, ...names)).toContain('US dollar coin');
    const token = ['--instrument-admin', REGISTRY, '--instrument-id', 'USDC'];
    expect(await print('top', ...token, ...names)).toContain('instrument USDCx (US dollar coin)');
    for (const line of [['instruments'], ['top', ...token]])
      for (const form of ['--json', '--csv'])
        expect(await print(...line, form, ...names)).toBe(await print(...line, form));
    expect(await print('top', ...names)).toBe(await print('top'));
  });

  it('are printed without the control characters that their ids may have', async () => {
    await apply('00:01 : +a alice 5 US\u001b[2J\u202eDC@registry id x\u0007\n00:11 :');
    const token = ['--instrument-admin', REGISTRY, '--instrument-id', 'US\u001b[2J\u202eDC'];
    for (const line of [
      ['instruments'],
      ['instruments', '--owner', ALICE],
      ['top', ...token],
      ['movements', '--owner', ALICE, ...token],
    ]) {
      for (const form of [[], ['--json']]) {
        const { code, stdout } = await holdfast(...line, ...form, '--data', folder.at('data'));
        expect({ code, line, unsafe: stdout.match(/[^\P{C}\n]/gu) }).toEqual({ code: 0, line, unsafe: null });
      }
    }
    const { stdout } = await holdfast('instruments', '--data', folder.at('data'));
    expect(stdout).toContain('US\\u{1b}[2J\\u{202e}DC');
  });
});
