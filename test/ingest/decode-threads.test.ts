import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messagesOf } from '../../src/feed/decoded-batch.ts';
import { LINE_BYTES_MAX } from '../../src/feed/limits.ts';
import { BATCHES_AHEAD_MAX } from '../../src/ingest/decode-pool.ts';
import type { ReplayOptions } from '../../src/ingest/replay-files.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { openFiles } from '../support/program/open-files.ts';
import { runProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { startFileThread } from '../support/views/file-thread.ts';
import { type Cuts, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews, storedOffset } from '../support/views/views-dump.ts';

const MEBIBYTE = 2 ** 20;
const PADDING = `{"padding":"${'x'.repeat(12_000)}",`;
/** Takes as long to decode as many batches of padded updates. */
const SLOW = `{"padding":[${Array.from({ length: 200_000 }, (_, i) => `[${i}]`).join(',')}],`;
const BAD = ['', 'null', '{"update_id":"cut', '{"events_by_id":{},"root_event_ids":[]}', '\u0000'];
const OVERLONG = `"${'x'.repeat(LINE_BYTES_MAX)}"`;
/** Several can overtake each other. */
const WORKERS = 4;

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

/** More batches than are read ahead, the first of which is the last to be decoded. */
let feed = '';
let feedWithBad = '';
let undisturbed: ReturnType<typeof dumpViews> = {};

beforeAll(async () => {
  const lines = linesOf(randomLedger(oddLedger(5_150, { updates: 600, owners: 200, migrations: 2 })), 'scan');
  const padded = lines.map((line, i) => line.replace('{', () => (i === 3 ? SLOW : PADDING)));
  feed = directory.writeLines('feed.ndjson', padded);
  const withBad = padded.flatMap((line, i) => (i % 90 === 50 ? [BAD[((i / 90) % BAD.length) | 0]!, line] : [line]));
  feedWithBad = directory.writeLines('bad.ndjson', [...withBad.slice(0, 500), OVERLONG, ...withBad.slice(500)]);
  await replayInto(directory.at('undisturbed'), [feed]);
  undisturbed = dumpViews(directory.at('undisturbed'));
});

/** All that a replay leaves, but for what names its source and its time. */
async function outcomeOf(name: string, file: string, options: Cuts & Partial<ReplayOptions>): Promise<unknown> {
  const data = directory.at(name);
  const { counts, halted, quarantined } = await replayInto(data, [file], { batchEventsMax: 500, ...options });
  const db = new DatabaseFile(join(data, 'views.db'), { readonly: true });
  const deadLetters = db
    .prepare(
      'SELECT kind, decision, lane, offset, cursor, update_id, field, given, reason, sha256, length FROM dead_letter',
    )
    .all();
  db.close();
  const found = { counts, halted: halted?.offset, quarantined, deadLetters, offset: storedOffset(data) };
  return { ...found, views: dumpViews(data) };
}

describe('what is decoded in threads', () => {
  it.each([
    ['bad ones quarantined', 'quarantine'],
    ['halted at the first bad one', 'halt'],
  ] as const)(
    'is applied in order, however many there are: %s',
    async (name, onBadUpdate) => {
      const wanted = await outcomeOf(`${name} inline`, feedWithBad, { onBadUpdate, chunkBytes: MEBIBYTE });
      const found = await outcomeOf(`${name} in threads`, feedWithBad, { onBadUpdate, decodeWorkers: WORKERS });
      expect(found).toEqual(wanted);
    },
    240_000,
  );

  it('is the same from standard input', async () => {
    const data = directory.at('from-stdin');
    const args = ['replay', '--decode-workers', '3', '--data', data, '-'];
    expect(await runProgram(args, { limits: `exec < ${feed}` })).toMatchObject({ code: 0 });
    expect(dumpViews(data)).toEqual(undisturbed);
  });

  it('waits for a batch that takes long, with a bounded number of others', async () => {
    const large = directory.at('large.ndjson');
    writeFileSync(large, readFileSync(feed).toString().repeat(3));
    const before = bytesRead();
    await using source = startFileThread(large, 4);
    const first = await source.next(60_000);
    expect(bytesRead() - before).toBeLessThan((BATCHES_AHEAD_MAX + 2) * MEBIBYTE + 10 * MEBIBYTE);
    const offsets: number[] = [];
    for (let next = first; next !== 'end'; next = await source.next(60_000)) {
      if (typeof next === 'string' || 'identity' in next) throw new Error('the file ended, or took a minute');
      offsets.push(...messagesOf(next, 0, next.length).map(({ offset }) => offset));
      source.applied(next);
    }
    expect(offsets).toEqual(offsets.map((_, i) => i + 1));
    expect(offsets.length).toBe(readFileSync(large).toString().split('\n').length - 1);
  });
});

/** By this process so far, from files and pipes. */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))![1]);
}

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const lines = [...linesOf(randomLedger(oddLedger(31, { updates: 200 })), 'scan')];

it('keeps no descriptor of a file it was stopped in the middle of', async () => {
  const path = folder.at('large.ndjson');
  writeFileSync(path, `${lines.join('\n')}\n`.repeat(30));
  {
    await using feed = startFileThread(path);
    expect(await feed.next(60_000)).toHaveProperty('rows');
    expect(openFiles('self').has(path)).toBe(true);
  }
  expect(openFiles('self').has(path)).toBe(false);
});
