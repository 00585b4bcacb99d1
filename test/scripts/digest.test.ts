import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seedOf } from '../../demo/active-contracts.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { shortTime } from '../support/ledger/wire-text.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/digest.py');

/** `0 2025-02-12T00:10:00Z <changes_digest> <digest>`, as the script says it, by migration. */
function scriptLines(args: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync('python3', [SCRIPT, ...args], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  return [...Map.groupBy(lines, (line) => Number(line.split(' ')[0]))]
    .sort(([a], [b]) => a - b)
    .flatMap(([, of]) => of);
}

async function storedLines(dataDir: string): Promise<readonly string[]> {
  using store = openViewsStore(dataDir);
  const snapshots = (await store.facts({ kind: 'snapshots' })).filter(({ forced }) => !forced);
  return snapshots.map(({ migrationId, recordTime, changesDigest, digest }) =>
    [migrationId, shortTime(recordTime), changesDigest, digest].join(' '),
  );
}

/** Compares both over a feed; returns the number of snapshots. */
async function compare(feed: string, { migrationId = 0, period = 600 } = {}): Promise<number> {
  using directory = temporaryDirectory();
  const settings = { migrationId, snapshotPeriodUs: period * 1_000_000 };
  expect((await replayInto(directory.at('data'), [feed], settings)).halted).toBeNull();
  const stored = await storedLines(directory.at('data'));
  expect(scriptLines(['--migration-id', String(migrationId), '--period', String(period), feed])).toEqual(stored);
  return stored.length;
}

describe('scripts/digest.py gives the digests that are stored', () => {
  it.each([
    ['story.scan.ndjson', 7],
    ['story.ledger-api.ndjson', 7],
    ['story-migration.scan.ndjson', 2],
  ])('of %s', async (name, count) => {
    expect(await compare(fixture(name))).toBe(count);
  });

  it.each(Array.from({ length: soakCount(4) }, (_, seed) => seed))('of random ledger %i', async (seed) => {
    using directory = temporaryDirectory();
    const format = seed % 2 === 0 ? 'scan' : 'ledger-api';
    const migrations = format === 'scan' ? 3 : 1;
    const shares = { counterfeit: 0.1, repair: 0.1 };
    const imports = { carriedOver: migrations === 1 ? 40 : 0, importCreatesMax: 4 };
    const changes = { updates: 300, migrations, synchronizers: 1 + (seed % 3), ...imports, shares };
    const items = [...randomLedger(oddLedger(seed + 2_000, changes))];
    const migrationId = Math.max(...items.map((item) => item.migrationId));
    const feed = directory.writeLines('feed.ndjson', linesOf(items, format));
    expect(await compare(feed, { migrationId })).toBeGreaterThan(20);
  });

  it('of a ledger that begins with a snapshot import', async () => {
    using directory = temporaryDirectory();
    const ledger = linesOf(parseLedger('00:01 : +a alice 10 ; +b bob 5\n00:12 : -a\n00:31 : -b\n00:41 :'), 'scan');
    const recordTime = '2025-02-12T00:10:00.000000Z';
    const feed = directory.writeLines('feed.ndjson', [...seedOf(ledger, { recordTime }), ...ledger]);
    expect(await compare(feed)).toBe(4);
  });

  it('of another period, transient contracts and ids that come again', async () => {
    using directory = temporaryDirectory();
    const ledger = `import : +z zoe 3
      00:01 : +a alice 10 ; +b bob 5 locked ; -b ; +f fay 1 forged
      00:02 : -a ; +a alice 7 ; -z
      00:03:30 : -a
      00:03:40 : +a alice 7 upgraded ; -f`;
    const feed = directory.writeLines('feed.ndjson', linesOf(parseLedger(`${ledger}\n00:09 :`), 'scan'));
    expect(await compare(feed, { period: 60 })).toBe(7);
    expect(await compare(feed, { period: 90 })).toBe(5);
  });
});
