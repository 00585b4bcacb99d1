import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { preloadSmallEpochs, runProgram, startProgram } from '../support/program/program.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';
import { dumpRows, type dumpViews, epochFacts } from '../support/views/views-dump.ts';

const KILLS = soakCount(6);
/** Each directory is killed so often before it may come to its end. */
const KILLS_PER_DIRECTORY = 3;
const TIMEOUT_MS = 300_000;
/** Those that are killed close and clear epochs. */
const preload = preloadSmallEpochs(200);

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

interface Feed {
  /** The files, and the option that says of which migration the lines are that carry none. */
  readonly args: readonly string[];
  readonly wanted: ReturnType<typeof dumpViews>;
  undisturbedMs: number;
}

/** One of coins in two migrations, and one of a participant with tokens. */
const feeds: Feed[] = [];

/**
 * Files that overlap, so that a start goes over what is known as well as over what is new, and commits often. The newest migration is
 * written in the Ledger API's form, with imports of several creates and repairs that share their time.
 */
function writeFeed(name: string, migrations: number, token: number): string[] {
  const large = { updates: 600, owners: 150, activeTarget: 500, roundEvery: 50, importCreatesMax: 8 };
  const options = { ...large, carriedOver: 30, migrations, synchronizers: 2, shares: { repair: 0.1, token } };
  const items = [...randomLedger(oddLedger(4_711, options))];
  const migrationId = Math.max(...items.map((item) => item.migrationId));
  const lines = items.flatMap((item) => linesOf([item], item.migrationId === migrationId ? 'ledger-api' : 'scan'));
  const size = Math.ceil(lines.length / 3);
  const files = Array.from({ length: 3 }, (_, i) => {
    return directory.writeLines(`${name}-${i}.ndjson`, lines.slice(Math.max(0, i * size - 100), (i + 1) * size));
  });
  return [...files, '--migration-id', String(migrationId)];
}

beforeAll(async () => {
  for (const [name, migrations, token] of [
    ['coins', 2, 0],
    ['tokens', 1, 0.5],
  ] as const) {
    const args = writeFeed(name, migrations, token);
    const startedMs = Date.now();
    const { code } = await runProgram(['replay', '--data', directory.at(`undisturbed-${name}`), ...args]);
    expect(code).toBe(0);
    const undisturbedMs = Date.now() - startedMs;
    feeds.push({ args, wanted: dumpRows(directory.at(`undisturbed-${name}`)), undisturbedMs });
  }
}, TIMEOUT_MS);

describe(`a replay killed with SIGKILL at random moments, ${KILLS} times in all, and run again to its end`, () => {
  const seeds = Array.from({ length: Math.ceil(KILLS / KILLS_PER_DIRECTORY) }, (_, seed) => seed);

  it.each(seeds)(
    'leaves the tables of an undisturbed one (seed %i)',
    async (seed) => {
      const random = createRandom(seed);
      const feed = feeds[seed % 2]!;
      const wantedSnapshots = new Set(feed.wanted.snapshot);
      const data = directory.at(`killed-${seed}`);
      for (let killed = 0; killed < KILLS_PER_DIRECTORY; ) {
        // The first part of a run is the start of the process, where nothing can be lost.
        const afterMs = feed.undisturbedMs * (0.2 + random.below(80) / 100);
        const startedMs = Date.now();
        await using program = startProgram(['replay', '--data', data, ...feed.args], { preload });
        await Promise.race([sleep(afterMs), program.ended]);
        program.kill('SIGKILL');
        if ((await program.ended).signal === 'SIGKILL') killed += 1;
        else feed.undisturbedMs = Math.min(feed.undisturbedMs, Date.now() - startedMs);
        if (!existsSync(`${data}/views.db`)) continue;
        const sealed = dumpRows(data).snapshot ?? [];
        const changed = sealed.filter((snapshot) => !wantedSnapshots.has(snapshot));
        expect(changed, `sealed before kill ${killed}`).toEqual([]);
      }
      if (existsSync(`${data}/views.db`)) {
        const verified = await holdfast('verify', '--data', data);
        // On a slow machine all kills may come before there is anything to lose.
        const sound = verified.stderr.includes('has no tables yet') ? 2 : 0;
        expect(verified).toMatchObject({ code: sound });
      }
      expect(await runProgram(['replay', '--data', data, ...feed.args], { preload })).toMatchObject({ code: 0 });
      expect(dumpRows(data)).toEqual(feed.wanted);
      expect(await holdfast('verify', '--data', data)).toMatchObject({ code: 0 });
      const { closed, gone, cleared } = epochFacts(data);
      expect(Math.min(closed, gone, cleared)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

describe('a SIGTERM at a random moment', () => {
  it('ends replay with code 1, and what was applied is on disk', { timeout: TIMEOUT_MS }, async () => {
    let data = '';
    const { args, wanted } = feeds[0]!;
    for (let tries = 0, isStopped = false; !isStopped; tries++) {
      data = directory.at(`stopped-${tries}`);
      await using program = startProgram(['replay', '--data', data, ...args]);
      while (!existsSync(`${data}/views.db`)) await sleep(10);
      program.kill('SIGTERM');
      const { code, stderr } = await program.ended;
      // On a machine that is busy it may have come to its end before.
      isStopped = code !== 0;
      if (isStopped)
        expect({ code, stderr }).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('run it again to continue'),
        });
    }
    expect(await holdfast('replay', '--data', data, ...args)).toMatchObject({ code: 0 });
    expect(dumpRows(data)).toEqual(wanted);
  });
});
