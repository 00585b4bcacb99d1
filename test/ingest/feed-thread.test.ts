import { writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { openFiles } from '../support/program/open-files.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { startFileThread } from '../support/views/file-thread.ts';
import { linesOf } from '../support/views/replayed.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const lines = [...linesOf(randomLedger(oddLedger(31, { updates: 200 })), 'scan')];

it('keeps no descriptor of a file it was stopped in the middle of', async () => {
  const path = folder.at('large.ndjson');
  writeFileSync(path, `${lines.join('\n')}\n`.repeat(30));
  {
    await using feed = startFileThread(path);
    expect(await feed.next(60_000)).toHaveProperty('messages');
    expect(openFiles('self').has(path)).toBe(true);
  }
  expect(openFiles('self').has(path)).toBe(false);
});
