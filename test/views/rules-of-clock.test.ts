import { describe, expect, it } from 'vitest';
import { retryHalted } from '../../src/ingest/resolve-halt.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import type { DeadLetter } from '../../src/views/store/dead-letter-store.ts';
import { clockTime, parseLedger } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { seedMark } from '../support/scan/active-contracts.ts';
import { expectCase, ledgerCases } from '../support/views/outcome.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const MINUTE_US = 60_000_000;

const AHEAD = ledgerCases(`
takes an update that is ahead of it as far as allowed | 13:00 : +a alice 10 | updates 1
takes none a microsecond further | 13:00:00.000001 : +a alice 10 | halted line 1: given "2025-02-12T13:00:00.000001Z", expected a time no further ahead of our clock (2025-02-12T12:00:00Z) than --record-time-ahead-max
halts at a checkpoint of which any time is too far ahead, even if that one would move no time | 11:55 : +a alice 10 / 11:58 : -a / checkpoint : @s1 11:59 ; @s2 13:01 | halted line 3: given "2025-02-12T13:01:00Z" & none
`);
const JUMPS = ledgerCases(`
takes a jump as long as the gap allowed | 00:01 : +a alice 10 / 00:21 : -a | updates 2
halts at a longer one of an update | 00:01 : +a alice 10 / 00:21:00.000001 : -a | halted 2025-02-12T00:01:00Z, the time reached, than --record-time-gap-max & none
halts at a longer one of a checkpoint | 00:01 : +a alice 10 / checkpoint : @s1 00:22 | halted line 2:
measures a jump in each migration from the time reached there, imports and first updates aside | 00:01 : +a alice 10 / import m1 : +a alice 10 / 09:00 m1 : -a / 00:11 : -a | m0 00:10: alice 10
`);

/** The rules of time and order (docs/rules.md): our clock, and jumps. */
describe('rule 6: the clock', () => {
  const noon = { recordTimeAheadMaxUs: 60 * MINUTE_US, now: () => clockTime('12:00') };

  it.each(AHEAD)('%s', (_, ledger, wanted) => expectCase(ledger, wanted, noon));
  it.each(JUMPS)('%s', (_, ledger, wanted) => expectCase(ledger, wanted, { recordTimeGapMaxUs: 20 * MINUTE_US }));

  it('halts whatever the policy, with what came before on disk', async () => {
    const ledger = '11:55 : +a alice 10 / 12:01 : +b bob 20 / 14:00 : -a';
    const policy = { ...noon, onBadUpdate: 'quarantine' } as const;
    await expectCase(ledger, 'halted line 3: & m0 12:00: alice 10', policy);
  });

  it('ends the halt by itself once it has come near, and only then', async () => {
    using directory = temporaryDirectory();
    const text = '11:55 : +a alice 10\n13:30 : +b bob 20\n13:41 : -a';
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
    const at = async (clock: string): Promise<string | null> => {
      const { halted } = await replayInto(directory.at('data'), [feed], { ...noon, now: () => clockTime(clock) });
      return halted && `${halted.kind} ${halted.offset}`;
    };
    expect(await at('12:00')).toBe('ahead 2');
    expect(await at('12:29:59')).toBe('ahead 2');
    expect(await at('12:30')).toBe('ahead 3');
    expect(await at('12:40')).toBe('ahead 3');
    expect(await at('12:41')).toBeNull();
    using store = openViewsStore(directory.at('data'));
    const snapshots = await store.facts({ kind: 'snapshots' });
    expect(snapshots.map(({ contracts }) => contracts)).toEqual([...Array(9).fill(1), 2, 2]);
  });

  it('halts at a seed mark that is too far ahead, until the clock has come near its time', async () => {
    using directory = temporaryDirectory();
    const feed = directory.writeLines('feed.ndjson', [seedMark(7, '2025-02-12T13:30:00Z')]);
    const at = async (clock: string): Promise<DeadLetter | null> => {
      const options = { ...noon, now: () => clockTime(clock) };
      return (await replayInto(directory.at('data'), [feed], options)).halted;
    };
    const halted = { id: 1, kind: 'ahead', migrationId: 7, updateId: null, recordTime: clockTime('13:30') };
    expect(await at('12:00')).toMatchObject(halted);
    expect(await at('12:29')).toMatchObject(halted);
    expect(await at('12:30')).toBeNull();
  });

  it.each([
    ['an update', '00:22 : -a'],
    ['a checkpoint', 'checkpoint : @s1 00:22'],
  ])('halts at such a jump of %s whatever the policy, until it is retried with a larger gap', async (_, jump) => {
    using directory = temporaryDirectory();
    const data = directory.at('data');
    const gap = { recordTimeGapMaxUs: 20 * MINUTE_US, onBadUpdate: 'quarantine' } as const;
    const lines = linesOf(parseLedger(`00:01 : +a alice 10\n${jump}\n00:31 : +b bob 20\n00:41 : -b`), 'ledger-api');
    const feed = directory.writeLines('feed.ndjson', lines);
    const halted = { kind: 'gap', decision: 'halted', offset: 2 };
    expect(await replayInto(data, [feed], gap)).toMatchObject({ halted, quarantined: 0, counts: { updates: 1 } });
    const wide = { ...gap, recordTimeGapMaxUs: 21 * MINUTE_US };
    expect((await replayInto(data, [feed], wide)).halted).toMatchObject(halted);
    expect(retryHalted(data, { ...WRITER_OPTIONS, ...gap }).bad).toContain('--record-time-gap-max');
    expect(retryHalted(data, { ...WRITER_OPTIONS, ...wide }).bad).toBeNull();
    expect(await replayInto(data, [feed], gap)).toMatchObject({ halted: null, quarantined: 0 });
    using store = openViewsStore(data);
    expect(await store.facts({ kind: 'snapshots' })).toHaveLength(4);
  });
});
