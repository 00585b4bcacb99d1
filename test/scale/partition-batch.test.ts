import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeContracts, importMarker, seedImports } from '../../demo/active-contracts.ts';
import { positionText, readPosition } from '../../src/scale/partition-batch.ts';
import { deadLetter } from '../../src/scale/partition-lane.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { decodeLines, type LinesTask } from '../support/scale/decoded.ts';
import { type Format, linesOf, TEN_MINUTES_US } from '../support/views/replayed.ts';

const DSO = partyOf('DSO');
const at = (clock: string): string => `2025-02-12T${clock}:00.000000Z`;
const ledger = (text: string, format: Format = 'scan'): string[] => linesOf(parseLedger(text), format);

const LEDGER = ledger(`
  00:01 : +a alice 10 ; +b bob 5
  00:04 : -b
  00:12 : -a ; +e erin 2
  00:21 : +f fred 1`);
const IMPORTS = seedImports(activeContracts(LEDGER, { migrationId: 0, recordTime: at('00:11') }), 0);
const MARK = importMarker(0, at('00:11'));
const NEWER = ledger('00:02 m1 : +n nora 1');
const CHECKPOINT = ledger('00:30 checkpoint : s1 00:30', 'ledger-api');

const decode = (lines: readonly string[], task: Partial<LinesTask> = {}) => decodeLines(lines, { dso: DSO, ...task });

/** A contract's name in these ledgers. */
const nameOf = (cid: string): string => String(Buffer.from(cid.slice(2), 'hex'));

/** Each event as its kind, contract and time, and what of them is bad. */
function shown(lines: readonly string[], task: Partial<LinesTask> = {}): string[] {
  const { events, bad } = decode(lines, task);
  const clock = (t: number | null): string => (t === null ? 'import' : new Date(t / 1000).toISOString().slice(11));
  return [
    ...events.map(({ k, t, ...event }) =>
      `${k} ${'cid' in event ? nameOf(event.cid) : ''} ${clock(t)}`.replace('  ', ' '),
    ),
    ...bad.map((each) => `${each.decision} ${deadLetter(each, 'updates').headers!.code}`),
  ];
}

const SEED = ['C a import', 'M 00:11:00.000Z'];
const BEHIND = ['A a 00:12:00.000Z', 'C e 00:12:00.000Z', 'C f 00:21:00.000Z'];

describe('a partition that begins with a snapshot import', () => {
  it('has its imports and its mark, and no update that it covers', () => {
    expect(IMPORTS).toHaveLength(1);
    expect(shown([...IMPORTS, MARK, ...LEDGER])).toEqual([...SEED, ...BEHIND]);
    expect(shown([MARK, ...LEDGER])).toEqual([SEED[1], ...BEHIND]);
  });

  it('remembers it with its position, whatever was last decoded', () => {
    const settings = { flatTopic: 'flat', dso: DSO, periodUs: TEN_MINUTES_US, migrationId: 0 };
    const all = [...IMPORTS, MARK, ...LEDGER];
    for (const cut of all.keys()) {
      const { position } = decode(all.slice(0, cut));
      const kept = readPosition(position.next, positionText(position, settings), settings, 'here');
      expect([...shown(all.slice(0, cut)), ...shown(all.slice(cut), { from: kept })]).toEqual([...SEED, ...BEHIND]);
    }
  });

  it('has its own time for a synchronizer, and what is not covered counts as of the mark', () => {
    const mark = importMarker(0, at('00:10'), { s2: at('00:03') });
    const updates = ledger('00:02 @s2 : +x xena 1\n00:04 @s2 : +y yves 1\n00:05 : +z zoe 1\n00:10 @s2 : -y');
    const after = '00:10:00.000Z';
    expect(shown([mark, ...updates])).toEqual([`M ${after}`, `C y ${after}`, `A y ${after}`]);
    const { events } = decode([mark, ...updates]);
    // The snapshot at the mark has nothing of what came behind it.
    expect(events.map(({ seq }) => seq - events[0]!.seq)).toEqual([0, 1, 1]);
  });

  it('covers updates of a participant up to its offset, whatever their time', () => {
    const lines = ledger('00:05 : +x xena 1\n00:11 : +y yves 1\n00:12 : -x', 'ledger-api');
    const [first, second] = lines.map((line) => (/"offset":(\d+)/.exec(line) ?? [])[1]);
    const mark = (offset: unknown): string =>
      JSON.stringify({ seed: { migration_id: 0, record_time: at('00:11'), offset: Number(offset) } });
    expect(shown([mark(first), ...lines])).toEqual([SEED[1], 'C y 00:11:00.000Z', 'A x 00:12:00.000Z']);
    expect(shown([mark(second), ...lines])).toEqual([SEED[1], 'A x 00:12:00.000Z']);
    const without = lines.map((line) => line.replaceAll(/"offset":\d+,?/g, ''));
    expect(shown([mark(first), ...without])).toEqual([SEED[1], 'halted bad_field']);
  });

  it('refuses a mark with more times of synchronizers than fit beside an offset', () => {
    const times = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`s${i}::1220${'ab'.repeat(32)}`, at('00:10')]),
    );
    expect(shown([importMarker(0, at('00:11'), times)])).toEqual(['halted bad_field']);
    const same = Object.fromEntries(Object.keys(times).map((name) => [name, at('00:11')]));
    expect(shown([importMarker(0, at('00:11'), same)])).toEqual([SEED[1]]);
  });
});

describe('an incomplete snapshot import', () => {
  const others = [
    ...LEDGER,
    ...NEWER,
    ...CHECKPOINT,
    ...seedImports(activeContracts(LEDGER, { migrationId: 0, recordTime: at('00:03') }), 1),
  ];

  it('moves no time, whatever follows but its mark, under either policy', () => {
    const follows = fc.array(fc.constantFrom(...others, ...IMPORTS, importMarker(1, at('00:40'))), { maxLength: 12 });
    fc.assert(
      fc.property(follows, fc.constantFrom('halt', 'quarantine'), (lines, onBadUpdate) => {
        const { events, position } = decode([IMPORTS[0]!, ...lines], { onBadUpdate });
        // All are imports of the interval that any engine leaves open until each partition has gone past it.
        expect(events.filter(({ clk, seq, m }) => clk !== 0 || seq !== 0 || m !== 0)).toEqual([]);
        expect(position.last).toMatchObject({ clk: 0, t: null });
      }),
    );
  });

  it('is named by the update after it, and is whole once its mark is there', () => {
    expect(shown([...IMPORTS, LEDGER[2]!])).toEqual(['C a import', 'halted half_seed']);
    const ofOtherFormat = ledger('00:12 : +e erin 2', 'ledger-api');
    expect(decode([...IMPORTS, ...ofOtherFormat]).bad.map(({ fault }) => fault.field)).toEqual(['recordTime']);
    expect(shown([...IMPORTS, ...NEWER])).toEqual(['C a import', 'halted half_seed']);
    expect(shown([...IMPORTS, ...CHECKPOINT, ...IMPORTS, MARK, LEDGER[2]!])).toEqual([
      'C a import',
      'C a import',
      ...SEED.slice(1),
      ...BEHIND.slice(0, 2),
    ]);
  });
});

describe('a snapshot import of a migration that has begun', () => {
  const begun = LEDGER.slice(0, 2);

  it.each(['halt', 'quarantine'] as const)(
    'halts its partition under %s where it is later than what was read',
    (onBadUpdate) => {
      const expected = [...shown(begun), 'halted late_seed'];
      expect(shown([...begun, ...IMPORTS, MARK, ...LEDGER.slice(2)], { onBadUpdate })).toEqual(expected);
      expect(shown([...IMPORTS, MARK, ...IMPORTS, importMarker(0, at('00:14'))], { onBadUpdate })).toEqual([
        ...SEED,
        'halted late_seed',
      ]);
    },
  );

  it('says nothing where all that it covers was read', () => {
    const early = importMarker(0, at('00:04'));
    expect(shown([...begun, ...IMPORTS, early, ...LEDGER.slice(2)])).toEqual(shown(LEDGER));
    expect(shown([...IMPORTS, MARK, ...IMPORTS, MARK, ...LEDGER])).toEqual([...SEED, ...BEHIND]);
  });

  it('halts its partition where a checkpoint has said that time moves on', () => {
    const time = ['T 00:30:00.000Z'];
    for (const [first] of [IMPORTS, [MARK]])
      for (const onBadUpdate of ['halt', 'quarantine'] as const)
        expect(shown([...CHECKPOINT, first!, MARK], { onBadUpdate })).toEqual([...time, 'halted late_seed']);
  });

  it('opens the next migration, and what the one before it had is not covered by it', () => {
    const [next] = ledger('00:01 m1 : +x xena 1');
    const lines = [...LEDGER, ...IMPORTS.map((line) => line.replace('"migration_id":0', '"migration_id":1'))];
    expect(shown([...lines, importMarker(1, at('00:01')), next!, ...NEWER])).toEqual([
      ...shown(LEDGER),
      'C a import',
      'M 00:01:00.000Z',
      'C n 00:02:00.000Z',
    ]);
  });
});

it('a checkpoint behind the time reached says nothing', () => {
  const checkpoint = (clock: string): string => ledger(`${clock} checkpoint : s1 ${clock}`, 'ledger-api')[0]!;
  expect(shown([...LEDGER, checkpoint('00:21'), checkpoint('00:22'), checkpoint('00:22')])).toEqual([
    ...shown(LEDGER),
    'T 00:22:00.000Z',
  ]);
});

describe('an update of an interval before the one that its partition has reached', () => {
  const [first, next, late, last] = ledger('00:05 : +a alice 10\n00:25 : +b bob 5\n00:06 : -a\n00:26 : -b');
  const [early, later] = ['C a 00:05:00.000Z', 'C b 00:25:00.000Z'];

  it('is a dead letter, also after a restart', () => {
    const all = [first!, next!, late!, last!];
    expect(shown(all)).toEqual([early, later, 'halted disorder']);
    expect(shown(all, { onBadUpdate: 'quarantine' })).toEqual([
      early,
      later,
      'A b 00:26:00.000Z',
      'quarantined disorder',
    ]);
    expect(shown([late!], { from: decode([first!, next!]).position })).toEqual(['halted disorder']);
  });

  it.each<[Format, string]>([
    ['scan', 'record_time'],
    ['ledger-api', 'recordTime'],
  ])('of %s is refused for its field %s', (format, field) => {
    const lines = ledger('00:05 : +a alice 10\n00:25 : +b bob 5\n00:06 : -a', format);
    expect(decode(lines).bad.map(({ fault }) => fault.field)).toEqual([field]);
  });

  it('within the open interval comes twice and in any order, and the time reached stays', () => {
    const ends = [first!, last!];
    expect(shown([...ends, next!, last!])).toEqual([early, 'A b 00:26:00.000Z', later, 'A b 00:26:00.000Z']);
    expect(decode([...ends, next!, last!]).position.last).toEqual(decode(ends).position.last);
  });
});
