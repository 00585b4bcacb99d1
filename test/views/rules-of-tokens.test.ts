import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import { verifyViews } from '../../src/views/verify/verify-views.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { ledgerCases } from '../support/views/outcome.ts';
import { type Cuts, type Format, linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

function inViews<T>(dataDir: string, body: (db: DatabaseFile.Database) => T): T {
  const db = new DatabaseFile(join(dataDir, 'views.db'));
  try {
    return body(db);
  } finally {
    db.close();
  }
}

/** What is active, as `alice/provider/id 5+1 USDC`, the counterfeits and unreadable holdings as numbers. */
function told(dataDir: string): string {
  const differences: string[] = [];
  for (const _ of verifyViews(dataDir, ({ table, expected, found }) =>
    differences.push(`${table}: ${expected}, ${found}`),
  ));
  expect(differences).toEqual([]);
  return inViews(dataDir, (db) => {
    const sums = db
      .prepare<[], [string, string, string, string, bigint, bigint]>(
        `SELECT owner, provider, account_id, name, sum(iif(locked = 0, amount, 0)), sum(iif(locked = 1, amount, 0))
         FROM held JOIN holding USING (no) JOIN account ON account.id = holding.account JOIN instrument ON instrument.id = instrument
         WHERE held.no NOT IN (SELECT no FROM gone) GROUP BY account.id ORDER BY name, owner, provider, account_id`,
      )
      .raw()
      .safeIntegers()
      .all();
    const name = (party: string): string => party.split('::')[0]!;
    const rows = sums.map(([owner, provider, id, instrument, unlocked, locked]) => {
      const account = [name(owner) || 'none', name(provider), id].join('/').replace(/\/+$/, '');
      const amounts = [unlocked, locked].map((each) => each / 10_000_000_000n).join('+');
      return `${account} ${amounts} ${instrument}`;
    });
    const owners = db.prepare<[], number>(
      `SELECT coalesce(sum(owners), 0) FROM instrument i JOIN supply v ON v.instrument = i.id
       WHERE seq = (SELECT max(seq) FROM supply w WHERE w.instrument = i.id) AND name <> 'Amulet'`,
    );
    const count = (table: string): number => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!;
    const others = ['counterfeit', 'unreadable'].flatMap((table) =>
      count(table) > 0 ? [`${count(table)} ${table}`] : [],
    );
    return [`${owners.pluck().get()} owners`, ...rows, ...others].join(', ');
  });
}

async function outcome(
  folder: TemporaryDirectory,
  ledger: string,
  changes: Cuts & { tokens?: 'on' | 'off' } = {},
  format: Format = 'ledger-api',
) {
  const data = folder.at(`data-${Math.random()}`);
  const lines = linesOf(parseLedger(ledger.replaceAll(' / ', '\n')), format);
  const { halted, counts } = await replayInto(data, [folder.writeLines('feed.ndjson', lines)], changes);
  return { data, counts, said: halted === null ? told(data) : `halted ${halted.code}` };
}

const RULES = ledgerCases(`
a token of an instrument | 00:01 : +t alice 5 USDC@registry | 1 owners, alice 5+0 USDC
rule 1: the coin is counted by its arguments, and its views are none of a token | 00:01 : +a alice 5 viewed | 0 owners, alice 5+0 Amulet
rule 2: two views of one contract are one holding | 00:01 : +t alice 5 USDC@registry ; +u bob 3 USDC@registry v1 ; +v bob 2 USDC@registry v2 | 2 owners, alice 5+0 USDC, bob 5+0 USDC
rule 3: accounts of one party are one owner | 00:01 : +t alice 5 USDC@registry by bank ; +u alice 1 USDC@registry id savings ; +v alice 2 USDC@registry | 1 owners, alice 2+0 USDC, alice//savings 1+0 USDC, alice/bank 5+0 USDC
an owner while one account has any | 00:01 : +t alice 5 USDC@registry by bank ; +u alice 1 USDC@registry / 00:02 : -t | 1 owners, alice 1+0 USDC
none behind the last | 00:01 : +t alice 5 USDC@registry by bank ; +u alice 1 USDC@registry / 00:02 : -t / 00:12 : -u | 0 owners
an account without owner is no owner | 00:01 : +t none 5 USDC@registry | 0 owners, none 5+0 USDC
version 1 names the same account | 00:01 : +t alice 5 USDC@registry by bank id x v1 ; +u alice 1 USDC@registry by bank id x v2 | 1 owners, alice/bank/x 6+0 USDC
rule 4: only what the admin signed counts | 00:01 : +t alice 5 USDC@registry forged | 0 owners, 1 counterfeit
a counterfeit leaves with its archive | 00:01 : +t alice 5 USDC@registry forged / 00:02 : -t | 0 owners
a counterfeit stays one | 00:01 : +t alice 5 USDC@registry forged / 00:02 : +t alice 5 USDC@registry | 0 owners, 1 counterfeit
rule 5: views that failed are remembered | 00:01 : +t alice 5 USDC@registry failed | 0 owners, 1 unreadable
and a negative amount | 00:01 : +t alice 5 USDC@registry saying -1.0 | 0 owners, 1 unreadable
until they are archived | 00:01 : +t alice 5 USDC@registry failed / 00:02 : -t | 0 owners
one that comes again readable is a token | 00:01 : +t alice 5 USDC@registry failed / 00:02 : +t alice 5 USDC@registry | 1 owners, alice 5+0 USDC
a counterfeit is judged before its amount | 00:01 : +t alice 5 USDC@registry forged saying -1.0 | 0 owners, 1 counterfeit
rule 6: an archive of what is unknown is ignored | 00:01 : +t alice 5 USDC@registry / 00:02 : -t / 00:03 : -t | 0 owners
a create of an active id is ignored, whatever it says | 00:01 : +t alice 5 USDC@registry / 00:02 : +t bob 7 CBTC@other | 1 owners, alice 5+0 USDC
rule 7: an expired lock is still locked | 00:01 : +t alice 5 USDC@registry until 00:00 | 1 owners, alice 0+5 USDC
zero is a lawful amount, and its party an owner | 00:01 : +t alice 0 USDC@registry | 1 owners, alice 0+0 USDC
rule 9 of reassignments | 00:01 : +t alice 5 USDC@registry / 00:02 unassignment : -t / 00:03 @s2 assignment : +t alice 5 USDC@registry / 00:04 @s2 assignment : +u bob 1 USDC@registry | 2 owners, alice 5+0 USDC, bob 1+0 USDC
a repair purges and imports again | 00:01 : +t alice 5 USDC@registry / 00:02 within unassignment : -t / 00:03 within assignment : +t bob 6 USDC@registry | 1 owners, bob 6+0 USDC
the coin's instrument is the coin's alone | 00:01 : +a alice 1 / 00:02 : +t alice 5 Amulet@DSO | 0 owners, alice 1+0 Amulet, 1 counterfeit
while no DSO is known it is a token | 00:01 : +t alice 5 Amulet@DSO | 1 owners, alice 5+0 Amulet
which halts the coin that names it | 00:01 : +t alice 5 Amulet@DSO / 00:02 : +a alice 1 | halted dso_of_tokens
even where they are archived by then | 00:01 : +t alice 5 Amulet@DSO / 00:12 : -t / 00:22 : +a alice 1 | halted dso_of_tokens
`);

describe('tokens', () => {
  it.each(RULES)('%s', async (_, ledger, wanted) => {
    using folder = temporaryDirectory();
    for (const batchEventsMax of [1, 1_000])
      for (const format of ['ledger-api', 'acs-delta'] as const) {
        const { said } = await outcome(folder, `${ledger} / 00:31 :`, { batchEventsMax }, format);
        // No owner of tokens where Amulet is one of them.
        expect(said.replace(/^\d+ owners(?=.*Amulet)/, '0 owners')).toBe(
          wanted.replace(/^\d+ owners(?=.*Amulet)/, '0 owners'),
        );
      }
  });

  it('are told of a redelivery by the id of its update, whatever its views say now', async () => {
    using folder = temporaryDirectory();
    const lines = (text: string): string[] => linesOf(parseLedger(text), 'ledger-api');
    const read = async (first: string, again: string): Promise<string> => {
      const data = folder.at(`data-${Math.random()}`);
      await replayInto(data, [folder.writeLines('first.ndjson', lines(first))]);
      const { halted } = await replayInto(data, [folder.writeLines('again.ndjson', lines(again))]);
      return halted?.code ?? told(data);
    };
    const first =
      '00:01 : +a alice 1\n00:02 =x : +t alice 5 USDC@registry failed\n00:03 : +u bob 1 USDC@registry\n00:04 : -t';
    expect(await read(first, '00:02 =x : +t alice 5 USDC@registry')).toMatch(/^1 owners/);
    expect(await read(first, '00:02 =x : +t alice 5 USDC@registry forged')).toMatch(/^1 owners/);
    // Never applied.
    expect(await read(first, '00:02 =y : +v alice 5 USDC@registry')).toBe('disorder');
    const archives =
      '00:01 : +a alice 1 ; +u bob 1 USDC@registry\n00:02 =x : +t alice 5 USDC@registry\n00:05 : +b bob 1';
    expect(await read(archives, '00:01 : +a alice 1 ; +u bob 1 USDC@registry\n00:03 =z : -u')).toBe('disorder');
  });

  it('count or not as the directory has it from its first update on', async () => {
    using folder = temporaryDirectory();
    const ledger = '00:01 : +a alice 1 / 00:02 : +t alice 5 USDC@registry / 00:11 : -t';
    const off = await outcome(folder, ledger, { tokens: 'off' });
    expect(off.said).toBe('0 owners, alice 1+0 Amulet');
    expect(off.counts.ignored).toEqual({ 'other template': 2 });
    const again = folder.writeLines(
      'more.ndjson',
      linesOf(parseLedger('00:21 : +u bob 5 USDC@registry'), 'ledger-api'),
    );
    await replayInto(off.data, [again]);
    expect(told(off.data)).toBe('0 owners, alice 1+0 Amulet');
    await expect(replayInto(off.data, [again], { tokens: 'on' })).rejects.toThrow(
      /--tokens on: this directory was built with off/,
    );
    const on = await outcome(folder, ledger);
    await expect(replayInto(on.data, [again], { tokens: 'off' })).rejects.toThrow(
      /--tokens off: this directory was built with on/,
    );
    const ofDso = await outcome(folder, '00:01 : +t alice 5 Amulet@DSO');
    await expect(replayInto(ofDso.data, [again], { dso: partyOf('DSO') })).rejects.toThrow(
      /has counted tokens named Amulet/,
    );
  });

  it('that one partition archives before another creates them are gone at once', () => {
    using folder = temporaryDirectory();
    const lines = linesOf(
      parseLedger(`00:01 : +t alice 5 USDC@registry
        00:03 @s1 : +u bob 5 USDC@registry ; +w bob 1 USDC@registry
        00:02 @s2 : -u
        00:05 @s2 : -w
        00:06 @s1 : +x bob 1 USDC@registry`),
      'ledger-api',
    );
    for (const commits of [false, true]) {
      const data = folder.at(`data-${commits}`);
      makeDataDirectory(data);
      let writer = new ViewsWriter(data, WRITER_OPTIONS);
      const begin = (): void => writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
      begin();
      writer.followSource({
        identity: '{}',
        resumeTokens: new Map([
          ['0', '0'],
          ['1', '0'],
        ]),
      });
      const [first, create, archive, late, last] = lines.map((line) => Buffer.from(line));
      const order = [
        [0, first],
        [1, archive],
        [0, create],
        [1, late],
        [0, last],
      ] as const;
      const offsets = [0, 0];
      for (const [partition, bytes] of order) {
        const message = decodeAlone({ lane: String(partition), offset: offsets[partition]!++, bytes: bytes! });
        expect(writer.apply(message)).toEqual({ done: true });
        if (!commits) continue;
        writer.commit();
        writer[Symbol.dispose]();
        writer = new ViewsWriter(data, WRITER_OPTIONS);
        begin();
      }
      writer.commit();
      writer[Symbol.dispose]();
      expect(told(data)).toBe('2 owners, alice 5+0 USDC, bob 1+0 USDC');
      expect(inViews(data, (db) => db.prepare('SELECT count(*) FROM early_archive').pluck().get())).toBe(0);
    }
  });
});
