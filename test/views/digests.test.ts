import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import type { Contract } from '../support/ledger/history.ts';
import { oracle } from '../support/ledger/oracle.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { shortTime } from '../support/ledger/wire-text.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

interface Digests {
  /** `m0 00:10` */
  readonly at: string;
  readonly changesDigest: string | null;
  readonly digest: string | null;
}

function shown(snapshot: {
  readonly migrationId: number;
  readonly recordTime: number;
  readonly changesDigest: string | null;
  readonly digest: string | null;
}): Digests {
  const { migrationId, recordTime, changesDigest, digest } = snapshot;
  return { at: `m${migrationId} ${shortTime(recordTime).slice(11, 16)}`, changesDigest, digest };
}

/**
 * Replays texts one after the other into one directory, each with a snapshot forced behind it; returns what is stored of all
 * snapshots, which on the grid is what the oracle says, however small the batches are.
 */
async function digestsOf(...texts: readonly string[]): Promise<Digests[]> {
  const contracts = new Map<string, Contract>();
  const parts = texts.map((text) => parseLedger(text, contracts));
  const expected = oracle(parts.flat(), { periodMicros: TEN_MINUTES_US }).snapshots.map(shown);
  let stored: Digests[] = [];
  for (const cuts of [{ chunkBytes: 64, batchEventsMax: 1 }, { chunkBytes: 2 ** 20 }]) {
    using directory = temporaryDirectory();
    for (const [i, items] of parts.entries()) {
      const file = directory.writeLines(`feed-${i}.ndjson`, linesOf(items, 'scan'));
      const { halted } = await replayInto(directory.at('data'), [file], { ...cuts, seal: i < parts.length - 1 });
      expect(halted).toBeNull();
    }
    using store = openViewsStore(directory.at('data'));
    stored = (await store.facts({ kind: 'snapshots' })).map(shown);
    expect(stored.filter(({ digest }) => digest !== null)).toEqual(expected);
  }
  return stored;
}

const DAY_US = Date.UTC(2025, 1, 12) * 1000;
const [ALICE, BOB] = ['alice::1220ab', 'bob::1220ab'];

/** SHA-256 of texts in UTF-8 and of bytes given in hex. */
function sha256(...parts: readonly (string | { readonly hex: string })[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(typeof part === 'string' ? part : Buffer.from(part.hex, 'hex'));
  return hash.digest('hex');
}

function changesOf(head: string, ...lines: readonly string[]): string {
  const items = lines.map((line) => sha256(line)).sort();
  return sha256(head, ...items.map((hex) => ({ hex })));
}

describe('the digests of snapshots', () => {
  it('are made of the lines that say what was created and archived, and of the digest before', async () => {
    const [first, second, third] = await digestsOf(
      '00:01 : +a alice 10 ; +b bob 10000000000 locked\n00:11 : -a\n00:31 :',
    );
    const created = `1 ${DAY_US + 60_000_000}`;
    const changes = changesOf(
      '0 2025-02-12T00:10:00Z\n',
      `+ u 100000000000 1000000000 ${created} 13 ${ALICE} 0061\n`,
      `+ l 100000000000000000000 1000000000 ${created} 11 ${BOB} 0062\n`,
    );
    const digest = sha256({ hex: sha256('0 600000000\n') }, { hex: changes });
    expect(first).toEqual({ at: 'm0 00:10', changesDigest: changes, digest });
    const archived = changesOf('0 2025-02-12T00:20:00Z\n', '- 0061\n');
    const next = sha256({ hex: digest }, { hex: archived });
    expect(second).toEqual({ at: 'm0 00:20', changesDigest: archived, digest: next });
    const quiet = changesOf('0 2025-02-12T00:30:00Z\n');
    expect(third).toEqual({ at: 'm0 00:30', changesDigest: quiet, digest: sha256({ hex: next }, { hex: quiet }) });
  });

  it('are none for a forced snapshot, which changes none of those after it', async () => {
    const [one, two, three] = ['00:01 =a : +a alice 10', '00:05 =b : +b bob 5', '00:15 =c : -a\n00:25 =d :'];
    const forced = await digestsOf(one, two, three);
    expect(forced.map(({ at, digest }) => `${at} ${digest === null ? 'none' : 'one'}`)).toEqual([
      'm0 00:01 none',
      'm0 00:05 none',
      'm0 00:10 one',
      'm0 00:20 one',
    ]);
    expect(forced.slice(2)).toEqual(await digestsOf([one, two, three].join('\n')));
  });

  it('are a chain of their own in each migration, of which one may go on after a newer one has begun', async () => {
    const text = `import m1 : +a alice 10\nimport m2 : +b bob 5\n00:01 m1 : +c carol 1\n00:05 m2 : -b
      00:15 m1 : -a\n00:15:01 m2 : +a alice 10\n00:25 m1 :\n00:25:01 m2 :`;
    const all = await digestsOf(text);
    expect(all.map(({ at }) => at)).toEqual(['m1 00:10', 'm1 00:20', 'm2 00:10', 'm2 00:20']);
    expect(new Set(all.flatMap(({ changesDigest, digest }) => [changesDigest, digest])).size).toBe(8);
  });
});
