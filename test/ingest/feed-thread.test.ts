import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { startFeedThread } from '../../src/ingest/feed-thread.ts';
import { oddLedger } from '../support/ledger-options.ts';
import { openFiles } from '../support/open-files.ts';
import { randomLedger } from '../support/random-ledger.ts';
import { linesOf } from '../support/replayed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const lines = [...linesOf(randomLedger(oddLedger(31, { updates: 200 })), 'scan')];
const startFeed = (path: string) => startFeedThread({ kind: 'file', path }, { migrationId: 0 });

const countDescriptors = (path: string): number => openFiles('self').filter((target) => target === path).length;

it('closes the descriptor of a pipe once, whatever its number stands for when the thread ends', async () => {
  const path = folder.at('pipe');
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  const opened: number[] = [];
  {
    await using feed = startFeed(path);
    while (countDescriptors(path) === 0) await sleep(5);
    const writer = await open(path, 'w');
    await writer.write(`${lines.join('\n')}\n`);
    await writer.close();
    let taken = await feed.next(1_000);
    for (; taken !== 'end'; taken = await feed.next(1_000)) expect(taken).not.toBe('idle');
    while (countDescriptors(path) > 0) await sleep(5);
    for (let i = 0; i < 100; i++) opened.push(openSync('/dev/null', 'r'));
  }
  for (const fd of opened) expect(fstatSync(fd).isCharacterDevice()).toBe(true);
  for (const fd of opened) closeSync(fd);
});

it('keeps no descriptor of a file it was stopped in the middle of', async () => {
  const path = folder.at('large.ndjson');
  writeFileSync(path, `${lines.join('\n')}\n`.repeat(30));
  {
    await using feed = startFeed(path);
    expect(await feed.next(10_000)).toHaveProperty('names');
    expect(countDescriptors(path)).toBe(1);
  }
  expect(countDescriptors(path)).toBe(0);
});
