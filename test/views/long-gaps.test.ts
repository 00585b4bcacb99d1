import { describe, expect, it } from 'vitest';
import { openForReading } from '../../src/views/store/database.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const SECOND_US = 1_000_000;
const PERIOD = { snapshotPeriodUs: SECOND_US } as const;
/** Of one transaction (docs/rules.md, rule 6). */
const SNAPSHOTS_MAX = 10_000;

const BEFORE = '00:00:01 =a : +a alice 10\n00:00:02.5 =b : +b bob 5 ; +c carol 2';
const BEHIND = '07:00 =c : -a ; +d alice 3\n07:00:01.5 =d : -c';
/** 25,198 snapshots from the first update behind on; and the same ledger with checkpoints, which no gap of 10,000 is between. */
const LONG = `${BEFORE}\n${BEHIND}`;
const DIVIDED = `${BEFORE}\n${['01', '03', '05'].map((hour) => `checkpoint : @s1 ${hour}:00`).join('\n')}\n${BEHIND}`;

const directory = freshDirectory();

function feedOf(name: string, text: string): string {
  return directory.writeLines(`${name}.ndjson`, linesOf(parseLedger(text), 'ledger-api'));
}

function snapshotsIn(name: string): number {
  const db = openForReading(directory.at(name));
  try {
    return db.prepare<[], number>('SELECT count(*) FROM snapshot').pluck().get()!;
  } finally {
    db.close();
  }
}

async function wantedViews(text = DIVIDED): Promise<ReturnType<typeof dumpViews>> {
  await replayInto(directory.at('divided'), [feedOf('divided', text)], PERIOD);
  return dumpViews(directory.at('divided'));
}

describe('a gap of more than 10,000 snapshots', () => {
  it('is committed in parts, which give the rows of a gap that checkpoints divide', async () => {
    const counts: number[] = [];
    const onProgress = (): void => void counts.push(snapshotsIn('long'));
    await replayInto(directory.at('long'), [feedOf('long', LONG)], { ...PERIOD, onProgress });
    const added = counts.map((count, i) => count - (counts[i - 1] ?? 0));
    expect(Math.max(...added)).toBe(SNAPSHOTS_MAX);
    expect(counts.at(-1)).toBeGreaterThan(2 * SNAPSHOTS_MAX);
    expect(dumpViews(directory.at('long'))).toEqual(await wantedViews());
  });

  it.each(['halt', 'quarantine'] as const)(
    'seals nothing where the update behind it is bad (%s)',
    async (onBadUpdate) => {
      const bad = '07:00 =bad : +e erin 1 ; -nothing';
      const options = { ...PERIOD, onBadUpdate };
      await replayInto(directory.at('long'), [feedOf('long', `${BEFORE}\n${bad}`)], options);
      await replayInto(directory.at('before'), [feedOf('before', BEFORE)], PERIOD);
      expect(dumpViews(directory.at('long'))).toEqual(dumpViews(directory.at('before')));
    },
  );

  it('is valid between two parts, and gives the same rows after a stop there', async () => {
    const feed = feedOf('long', LONG);
    for (let parts = 1; parts <= 2; parts++) {
      const stop = new AbortController();
      const onProgress = (): void => {
        if (snapshotsIn('long') >= parts * SNAPSHOTS_MAX) stop.abort();
      };
      await replayInto(directory.at('long'), [feed], { ...PERIOD, signal: stop.signal, onProgress });
      expect(snapshotsIn('long')).toBe(parts * SNAPSHOTS_MAX);
      expect(await holdfast('verify', '--data', directory.at('long'))).toMatchObject({ code: 0 });
    }
    await replayInto(directory.at('long'), [feed], PERIOD);
    expect(await holdfast('verify', '--data', directory.at('long'))).toMatchObject({ code: 0 });
    expect(dumpViews(directory.at('long'))).toEqual(await wantedViews());
  });
});
