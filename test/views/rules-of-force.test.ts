import { describe, expect, it } from 'vitest';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { expectCase, holds, ledgerCases, ownersAt } from '../support/views/outcome.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

/** Replays a ledger into the directory's views with --seal. */
async function seal(directory: TemporaryDirectory, text: string): Promise<void> {
  const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(text), 'scan'));
  const { halted } = await replayInto(directory.at('data'), [feed], { seal: true });
  expect(halted).toBeNull();
}

/** Record times of all snapshots, with the word `forced` after those that were. */
function sealed(directory: TemporaryDirectory): string[] {
  return dumpViews(directory.at('data')).snapshot!.map((row) => {
    const [migrationId, recordTime, , , forced] = row.split(' | ');
    const clock = new Date(Number(recordTime) / 1000).toISOString().slice(11, 19);
    return `m${migrationId} ${clock}${forced === '1' ? ' forced' : ''}`;
  });
}

const SEALED = ledgerCases(`
is at the largest record time applied, and includes what came late with a smaller one | 00:01 : +a alice 10 / 00:12:30 : +b bob 20 / 00:02 @s2 : +c carol 30 | m0 00:10: alice 10 & m0 00:12:30: alice 10, bob 20, carol 30
is the newest snapshot where one is later | 00:01 : +a alice 10 / checkpoint : @s1 00:20 | m0 00:10: alice 10 & m0 00:20: alice 10
is the newest snapshot where one is at that time | 00:01 : +a alice 10 / 00:10 : / checkpoint : @s1 00:10 | m0 00:10: alice 10
is of the newest migration that has an update other than an import | 00:01 : +a alice 10 / 00:05 m1 : +b bob 20 / import m2 : +c carol 30 / 00:07 : -a | m1 00:05: bob 20
is not sealed where nothing but imports was applied | import : +a alice 10 | none
is not sealed where nothing was applied | checkpoint : @s1 00:10 | none
is not sealed in a directory that is halted | 00:01 : +a alice 10 / 00:02 : -b | halted line 2 & none
`);

describe('rule 12: a forced snapshot', () => {
  it.each(SEALED)('%s', (_, ledger, wanted) => expectCase(ledger, wanted, { seal: true }));

  it('is not sealed again while nothing came since, and what came with a smaller time waits for the next', async () => {
    using directory = temporaryDirectory();
    const first = '00:01 =a : +a alice 10\n00:05 =b : +b bob 20';
    await seal(directory, first);
    await seal(directory, first);
    expect(sealed(directory)).toEqual(['m0 00:05:00 forced']);
    await seal(directory, `${first}\n00:04 @s2 =c : +c carol 30`);
    expect(sealed(directory)).toEqual(['m0 00:05:00 forced']);
    await seal(directory, `${first}\n00:04 @s2 =c : +c carol 30\n00:06 =d : -a`);
    expect(sealed(directory)).toEqual(['m0 00:05:00 forced', 'm0 00:06:00 forced']);
    using store = openViewsStore(directory.at('data'));
    const snapshots = await store.facts({ kind: 'snapshots' });
    expect(snapshots.map(({ contracts }) => contracts)).toEqual([2, 2]);
  });

  it('is not sealed at a grid time, where the newest is the answer: that one comes with the feed', async () => {
    using directory = temporaryDirectory();
    const first = '00:01 =a : +a alice 10\n00:10 =b : +b bob 20';
    await seal(directory, first);
    expect(sealed(directory)).toEqual([]);
    const second = `${first}\n00:10 @s2 =c : +c carol 30\n00:20 =d : -a`;
    await seal(directory, second);
    expect(sealed(directory)).toEqual(['m0 00:10:00']);
    await seal(directory, `${second}\n00:20:01 =e : -b`);
    expect(sealed(directory)).toEqual(['m0 00:10:00', 'm0 00:20:00', 'm0 00:20:01 forced']);
  });

  it('between grid times changes neither the grid nor what the next ones hold', async () => {
    using directory = temporaryDirectory();
    const first = '00:01 =a : +a alice 10\n00:15 =b : +b bob 20';
    const all = `${first}\n00:31 =c : +c carol 30 ; -a`;
    await seal(directory, first);
    await seal(directory, all);
    expect(sealed(directory)).toEqual([
      'm0 00:10:00',
      'm0 00:15:00 forced',
      'm0 00:20:00',
      'm0 00:30:00',
      'm0 00:31:00 forced',
    ]);
    const parties = ['alice::1220ab', 'bob::1220ab', 'carol::1220ab'];
    using store = openViewsStore(directory.at('data'));
    const holders: string[] = [];
    for (const snapshot of await store.facts({ kind: 'snapshots' })) {
      const owners = await ownersAt(store, snapshot, parties);
      holders.push(owners.map((owner) => (holds(owner) ? 1 : 0)).join(''));
    }
    expect(holders).toEqual(['100', '110', '110', '110', '011']);
  });
});
