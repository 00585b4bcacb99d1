import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../src/ingest/replay-files.ts';
import { type LedgerUpdate, UNCOUNTED_LOG } from '../../src/ledger/update.ts';
import { flatten } from '../../src/scale/flatten.ts';
import { decodeUpdate } from '../support/decode/messages.ts';
import { type EventLogExercise, eventLogs, withEventLogs } from '../support/ledger/event-log.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { CLOCK_US, type Cuts, type Format, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';
import { dumpRows } from '../support/views/views-dump.ts';

const FORMATS = ['scan', 'ledger-api'] as const;
const CUTS: Cuts = { chunkBytes: 64, batchEventsMax: 1, epochEvents: 2 };

interface Result {
  /** `u2 alice: -4 bob lunch`: the leg of a movement; `-` for none. */
  readonly rows: readonly string[];
  /** `agree 2, unreadable 1`. */
  readonly counts: string;
  readonly counted: ReplayResult['counts'];
}

/** Replays a ledger with these events in its last update; `also` is called with the directory and the feed. */
async function legsOf(
  ledger: string,
  logs: readonly EventLogExercise[],
  format: Format,
  also: (dataDir: string, feed: string) => Promise<void> = async () => {},
): Promise<Result> {
  using directory = temporaryDirectory();
  const lines = linesOf(parseLedger(ledger.replaceAll(' / ', '\n')), format);
  const feed = directory.writeLines('feed', lines.with(-1, withEventLogs(lines.at(-1)!, logs)));
  const { counts, halted } = await replayInto(directory.at('data'), [feed], CUTS);
  expect(halted).toBeNull();
  const { movement_legs: found = [], account } = dumpRows(directory.at('data'));
  await also(directory.at('data'), feed);
  const owners = new Map(account!.map((row) => [row.split(' | ')[0], /"(\w+)::/.exec(row)![1]]));
  const rows = found.map((row) => {
    const [updateNo, of = '', ...legs] = row.split(' | ');
    return `u${updateNo} ${owners.get(of)}: ${legsText(JSON.parse(legs.join(' | ')))}`;
  });
  const { legsAgree, legsDiffer, ignored } = counts;
  const named = { agree: legsAgree, differ: legsDiffer, uncounted: ignored[UNCOUNTED_LOG] };
  const all = Object.entries({ ...named, unreadable: ignored['unreadable EventLog'] });
  const says = all.filter(([, count]) => (count ?? 0) > 0).map((each) => each.join(' '));
  return { rows, counts: says.join(', '), counted: counts };
}

function legsText(column: string): string {
  const legs = JSON.parse(column) as Record<'side' | 'counterparty' | 'amount' | 'reason', string | null>[];
  const texts = legs.map(({ side, counterparty, amount, reason, ...rest }) => {
    expect(rest).toEqual({});
    const sign = { sender: '-', receiver: '+' }[side!];
    const words = [`${sign}${amount!.replace('.0000000000', '')}`, String(counterparty).split('::')[0], reason];
    return words.filter((word) => word !== null).join(' ');
  });
  return texts.join(', ') || '-';
}

/** What an update with an event is decoded to, of each format. */
function updatesWith(log: EventLogExercise): LedgerUpdate[] {
  const lines = FORMATS.map((format) => linesOf(parseLedger('00:01 : +a alice 10'), format)[0]!);
  return lines.map((line) => decodeUpdate(withEventLogs(line, [log])));
}

const CASES = `
a transfer | 00:01 : +a alice 10 / 00:02 : -a ; +b alice 6 ; +c bob 4 | alice a>b : -4 bob lunch ; bob >c : +4 alice | u2 alice: -4 bob lunch & u2 bob: +4 alice | agree 2
a reason of the event, and one of the leg | 00:01 : +a alice 10 / 00:02 : -a ; +b bob 10 | alice a> reason=all : -6 bob, -4 bob lunch | u2 alice: -6 bob all, -4 bob lunch | agree 1
a mint, in the update that makes the DSO known | 00:01 : +a alice 10 | alice >a : +10 mint tap | u1 alice: +10 minted tap | agree 1
a burn | 00:01 : +a alice 10 / 00:02 : -a ; +b alice 7 | alice a>b : -3 burn | u2 alice: -3 burned | agree 1
another side without an owner | 00:01 : +a alice 10 | alice >a : +10 nobody | u1 alice: +10 null | agree 1
a lock, with the account on both sides | 00:01 : +a alice 10 / 00:02 : -a ; +b alice 4 locked ; +c alice 6 | alice a>b,c : -4 alice, +4 alice | u2 alice: -4 alice, +4 alice | agree 1
an unlock, which has no legs | 00:01 : +a alice 9 locked / 00:02 : -a ; +b alice 9 | alice a>b : | u2 alice: - | agree 1
a merge, which is no movement | 00:01 : +a alice 10 ; +b alice 5 / 00:02 : -a ; -b ; +c alice 15 | alice a,b>c : | | agree 1
a lock that is burned in another event | 00:01 : +a alice 10 / 00:02 : -a ; +b alice 4 locked ; +c alice 6 ; -b | alice a>b,c : -4 alice, +4 alice ; alice b> : -4 burn | u2 alice: -4 alice, +4 alice, -4 burned | agree 1
a movement without an event | 00:01 : +a alice 10 / 00:02 : -a ; +b bob 10 | alice a> : -10 bob | u2 alice: -10 bob | agree 1
legs that come to something else | 00:01 : +a alice 10 / 00:02 : -a ; +b alice 6 | alice a>b : -5 burn | u2 alice: -5 burned | differ 1
legs of a merge | 00:01 : +a alice 10 / 00:02 : -a ; +b alice 10 | alice a>b : -5 burn | | differ 1
legs of one who has never had coin | 00:01 : +a alice 10 | alice >a : +10 mint ; bob > : +1 alice | u1 alice: +10 minted | agree 1, differ 1
another admin | 00:01 : +a alice 10 | alice >a admin=forger acting=forger : +99 mint | | uncounted 1
a DSO that does not act | 00:01 : +a alice 10 | alice >a acting=alice : +99 mint | | uncounted 1
a package of others | 00:01 : +a alice 10 | alice >a package=splice-amulets : +99 mint | |
forged and true | 00:01 : +a alice 10 | alice > admin=forger acting=forger : +99 mint ; alice >a : +10 mint | u1 alice: +10 minted | agree 1, uncounted 1
`;

describe('legs of movements', () => {
  it.each(
    CASES.trim()
      .split('\n')
      .map((line) => line.split('|').map((part) => part.trim())),
  )('%s', async (_, ledger, logs, wanted, counts) => {
    for (const format of FORMATS) {
      const result = await legsOf(ledger!, eventLogs(logs!), format);
      expect(result).toMatchObject({ rows: wanted === '' ? [] : wanted!.split(' & '), counts });
    }
  });

  const leg = (change: object) => ({ transferLegSides: [{ ...mint.transferLegSides[0], ...change }] });
  const mint = eventLogs('alice >a : +10 mint')[0]!.argument as { transferLegSides: object[]; account: object };
  it.each([
    ['no admin', { admin: null }],
    ['an admin that is no party', { admin: 'DSO' }],
    ['no owner', { account: { ...mint.account, owner: null } }],
    ['an account at a provider', { account: { ...mint.account, provider: 'bank::1220ab' } }],
    ['an account with an id', { account: { ...mint.account, id: '1' } }],
    ['no list of legs', { transferLegSides: {} }],
    ['no list of coins', { outputHoldingCids: null }],
    ['no meta', { extraArgs: {} }],
    ['a leg that is no object', { transferLegSides: [7] }],
    ['another side', leg({ side: 'Sender' })],
    ['an amount that is a number', leg({ amount: 10 })],
    ['a negative amount', leg({ amount: '-10.0' })],
    ['an amount of too many digits', leg({ amount: '0.12345678901' })],
    ['a reason that is no text', leg({ meta: { values: { 'splice.lfdecentralizedtrust.org/reason': 7 } } })],
    ['no other side', leg({ otherside: null })],
    ['another side that is no party', leg({ otherside: { owner: 'bob', provider: null, id: '' } })],
  ])('an event with %s is ignored and counted', (_, change) => {
    const [log] = eventLogs('alice >a : +10 mint');
    for (const update of updatesWith({ ...log!, argument: { ...log!.argument, ...change } }))
      expect([update.eventLogs, update.ignored]).toEqual([undefined, ['unreadable EventLog']]);
  });

  it.each([
    ['of another interface', { interfaceId: 'p:Other:EventLog' }],
    ['of another choice', { choice: 'EventLog_Other' }],
  ])('an exercise %s is none', (_, change) => {
    const [log] = eventLogs('alice >a : +99 mint');
    const found = updatesWith({ ...log!, ...change }).map(({ ignored }) => ignored);
    expect(found).toEqual([['not consuming'], ['acsDelta false']]);
  });

  it('are nothing to a stream engine', () => {
    const [line = ''] = linesOf(parseLedger('00:01 : +a alice 10'), 'ledger-api');
    const rules = { dso: partyOf('DSO'), periodUs: TEN_MINUTES_US, recordTimeAheadMaxUs: 0, now: CLOCK_US };
    const [without, logged] = [line, withEventLogs(line, eventLogs('alice >a : +10 mint'))].map((each) =>
      flatten(decodeUpdate(each), rules),
    );
    expect(logged).toEqual(without);
    expect(without).toHaveLength(1);
  });

  it('says what differs first', async () => {
    const logs = eventLogs('alice >a : +9 mint ; bob >b : +4 mint');
    const { counted } = await legsOf('00:01 : +a alice 10 ; +b bob 5', logs, 'scan');
    const says = 'update u1, alice::1220ab: its legs come to 9.0000000000, its coins changed by 10.0000000000';
    expect(counted).toMatchObject({ legsDiffer: 2, firstLegsDifference: says });
  });

  it('leaves out legs of other instruments, cuts reasons, and reads at most 1,000 legs and events of an update', async () => {
    const [log] = eventLogs(`alice >a : +10 mint ${'x'.repeat(199)}\ud83d\ude00`);
    const [coin] = log!.argument.transferLegSides as object[];
    const of = (legs: number): EventLogExercise => {
      const others = { ...coin, instrumentId: 'Other' };
      const none = { ...coin, amount: '0.0', meta: { values: {} } };
      return {
        ...log!,
        argument: { ...log!.argument, transferLegSides: [coin, others, ...Array(legs - 1).fill(none)] },
      };
    };
    const many = await legsOf('00:01 : +a alice 10', [of(999)], 'scan');
    expect(many).toMatchObject({ rows: [expect.stringMatching(/^u1 alice: \+10 minted x{199}(, \+0 minted){998}$/)] });
    const tooMany = await legsOf('00:01 : +a alice 10', [of(1_000)], 'ledger-api');
    expect(tooMany).toMatchObject({ rows: [], counts: 'unreadable 1' });
  });

  it('changes nothing but legs, and nothing where it comes again', async () => {
    const ledger = '00:01 : +a alice 10 / 00:02 : -a ; +b alice 6 ; +c bob 4';
    const logs = eventLogs('alice a>b : -4 bob, -9 burn ; bob >c : +4 alice ; carol > : +1 mint');
    for (const format of FORMATS)
      await legsOf(ledger, logs, format, async (dataDir, feed) => {
        const before = dumpRows(dataDir);
        using directory = temporaryDirectory();
        const lines = linesOf(parseLedger(ledger.replaceAll(' / ', '\n')), format);
        await replayInto(directory.path, [directory.writeLines('without', lines)], CUTS);
        expect({ ...before, movement_legs: [] }).toEqual(dumpRows(directory.path));
        expect(await holdfast('verify', '--data', dataDir)).toMatchObject({ code: 0 });
        const { counts } = await replayInto(dataDir, [feed]);
        expect(counts).toMatchObject({ redelivered: 2, legsAgree: 0, legsDiffer: 0, firstLegsDifference: null });
        expect(dumpRows(dataDir)).toEqual(before);
        const db = new DatabaseFile(join(dataDir, 'views.db'));
        db.exec(`INSERT INTO movement_legs VALUES (1, 2, '[]'), (3, 1, '[]')`);
        db.close();
        const { stdout } = await holdfast('verify', '--data', dataDir);
        expect(stdout).toMatch(/^movement_legs: .* account 2 in update 1.*\nmovement_legs: .* account 1 in update 3/);
      });
  });

  it('does not compare what a participant shows only in part', async () => {
    const ledger = '00:01 : +a alice 10 / 00:02 : +b alice 5 off ; +c bob 1 ; +d bob 2 off ; -d off';
    const logs = eventLogs('alice >b : +5 mint ; bob >c,d : +3 mint ; bob d> : -2 burn');
    expect(await legsOf(ledger, logs, 'ledger-api')).toMatchObject({ counts: 'agree 1' });
  });
});
