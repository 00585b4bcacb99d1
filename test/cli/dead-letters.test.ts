import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockForWriting } from '../../src/views/store/writer-lock.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

let folder: TemporaryDirectory;
let dataDir: string;

beforeEach(() => {
  folder = temporaryDirectory();
  dataDir = folder.at('data');
});
afterEach(() => folder[Symbol.dispose]());

const LINES = linesOf(randomLedger(oddLedger(21, { migrations: 1, updates: 150 })), 'scan');
const BAD_AT = 100;
const HOSTILE = '{"update_id":"\u001b]0;owned\u0007\u202e","record_time":"2025-02-12T00:00:00Z"';

/** The lines with something in place of line BAD_AT (from 1). */
function linesWith(...instead: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [...LINES.slice(0, BAD_AT - 1), ...instead, ...LINES.slice(BAD_AT)];
}

/** What the commands do to a dead letter leaves a row that is sound. */
async function expectSound(): Promise<void> {
  expect(await holdfast('verify', '--data', dataDir)).toMatchObject({ code: 0 });
}

function deadLetters(...args: readonly string[]): ReturnType<typeof holdfast> {
  return holdfast('dead-letters', ...args, '--data', dataDir);
}

describe('dead-letters list and show', () => {
  it('say what stopped, where, and which command comes next', async () => {
    const feed = folder.writeLines('feed.ndjson', linesWith('{"foo":1}'));
    await replayInto(dataDir, [feed]);
    const { code, stdout } = await deadLetters('show', '1');
    expect(code).toBe(0);
    expect(stdout).toContain(`location     ${feed}, message ${BAD_AT}\n`);
    expect(stdout).toContain('field        message\n');
    expect(stdout).toContain('given        {"foo":1}\n');
    expect(stdout).toContain('expected     one update');
    expect(stdout).toContain('holdfast dead-letters drop 1');
    expect(stdout).toContain('\n{"foo":1}\n');
    const listed = await deadLetters('list');
    expect(listed.stdout).toMatch(
      /^id +decision +kind +location +update +record time +reason\n *1 +halted +update +\S+ message 100 +- +- +message: /,
    );
  });

  it('give programs JSON, with the bytes in base64', async () => {
    await replayInto(dataDir, [folder.writeLines('feed.ndjson', linesWith(Buffer.from([0x7b, 0xff, 0x7d])))]);
    const shown = JSON.parse((await deadLetters('show', '1', '--json')).stdout) as Record<string, unknown>;
    expect(shown).toMatchObject({
      id: 1,
      decision: 'halted',
      kind: 'update',
      offset: BAD_AT,
      length: 3,
      bytes: 'e/99',
    });
    const listed = JSON.parse((await deadLetters('list', '--json')).stdout) as unknown[];
    const { bytes: _, ...withoutBytes } = shown;
    expect(listed).toEqual([withoutBytes]);
  });

  it('show nothing that a terminal would obey', async () => {
    await replayInto(dataDir, [folder.writeLines('feed.ndjson', linesWith(HOSTILE))]);
    for (const args of [['show', '1'], ['show', '1', '--json'], ['list'], ['list', '--json']]) {
      const { stdout } = await deadLetters(...args);
      expect(stdout).toContain('owned');
      expect(stdout).toMatch(/^[\n\x20-\x7e]*$/);
    }
  });

  it('refuse a missing directory and make nothing', async () => {
    for (const args of [['list'], ['show', '1'], ['drop', '1', '--yes'], ['retry']]) {
      const { code, stderr } = await deadLetters(...args);
      expect(code).toBe(2);
      expect(stderr).toContain('there is no views.db in it');
    }
    expect(existsSync(dataDir)).toBe(false);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('work while a writer runs, and those that change something name its process', async () => {
    await replayInto(dataDir, [folder.writeLines('feed.ndjson', linesWith('{"foo":1}'))]);
    using _lock = lockForWriting(dataDir);
    expect((await deadLetters('list')).code).toBe(0);
    expect((await deadLetters('show', '1')).code).toBe(0);
    for (const args of [['retry'], ['drop', '1', '--yes']]) {
      const { code, stderr } = await deadLetters(...args);
      expect(code).toBe(2);
      expect(stderr).toContain(`process ${process.pid} writes to it; stop`);
    }
    expect((await deadLetters('list')).stdout).toContain('halted');
  });
});

describe('dead-letters drop', () => {
  it('says what it costs and does nothing without --yes', async () => {
    const line = LINES.findLast((each) => each.includes('"created_event"'))!;
    const [update] = [JSON.parse(line) as Record<string, unknown>];
    await replayInto(dataDir, [
      folder.writeLines('feed.ndjson', linesWith(JSON.stringify({ ...update, record_time: '2026-12-01T00:00:00Z' }))),
    ]);
    const { code, stderr } = await deadLetters('drop', '1');
    expect(code).toBe(2);
    expect(stderr).toMatch(/it creates \d+ and archives \d+ coins and rounds; no total will ever include it/);
    expect(stderr).toContain('--yes');
    expect((await deadLetters('list')).stdout).toContain('halted');
  });

  it('continues after the message, from the start of the same file too, and counts the skipped bytes', async () => {
    const feed = folder.writeLines('feed.ndjson', linesWith('{"foo":1}', LINES[BAD_AT - 1]!));
    const first = await replayInto(dataDir, [feed]);
    expect(first.halted).toMatchObject({ id: 1, offset: BAD_AT });
    const again = await replayInto(dataDir, [feed]);
    expect(again).toMatchObject({ halted: { id: 1 }, counts: { updates: 0 } });
    expect(await deadLetters('drop', '1', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`continues after ${feed}, message ${BAD_AT}`),
    });
    const { halted, counts } = await replayInto(dataDir, [feed]);
    expect(halted).toBeNull();
    expect(counts).toMatchObject({ decided: 1 });
    await replayInto(folder.at('without'), [folder.writeLines('without.ndjson', LINES)]);
    expect(dumpViews(dataDir)).toEqual(dumpViews(folder.at('without')));
    // The same bytes from another source are skipped as well.
    const other = await replayInto(dataDir, [folder.writeLines('other.ndjson', ['{"foo":1}'])]);
    expect(other).toMatchObject({ halted: null, counts: { decided: 1 } });
    await expectSound();
  });

  it('drops an over-long message, which cannot be retried', async () => {
    const long = `{"update_id":"${'x'.repeat(17 * 2 ** 20)}"}`;
    const feed = folder.writeLines('feed.ndjson', linesWith(long, LINES[BAD_AT - 1]!));
    await replayInto(dataDir, [feed]);
    const shown = JSON.parse((await deadLetters('show', '1', '--json')).stdout) as { bytes: string };
    expect(shown).toMatchObject({ kind: 'overlong', length: long.length });
    expect(Buffer.from(shown.bytes, 'base64').toString()).toBe(long.slice(0, 65_536));
    const retried = await deadLetters('retry');
    expect(retried.code).toBe(3);
    expect(retried.stderr).toContain('can only be dropped');
    expect((await deadLetters('drop', '1', '--yes')).code).toBe(0);
    expect(await replayInto(dataDir, [feed])).toMatchObject({ halted: null, counts: { decided: 1 } });
    await expectSound();
  });

  it('ends the halt at a broken container and remembers nothing', async () => {
    const feed = folder.writeLines('page.json', [`[${LINES.slice(0, BAD_AT).join(',\n')},`]);
    expect(await replayInto(dataDir, [feed])).toMatchObject({ halted: { kind: 'container' } });
    const retried = await deadLetters('retry');
    expect(retried).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('read the repaired file from its start'),
    });
    expect((await deadLetters('drop', '1', '--yes')).code).toBe(0);
    expect(await replayInto(dataDir, [feed])).toMatchObject({ halted: { id: 2, kind: 'container' } });
    expect((await deadLetters('drop', '2', '--yes')).code).toBe(0);
    await expectSound();
    const mended = folder.writeLines('page.json', [`[${LINES.join(',\n')}]`]);
    expect(await replayInto(dataDir, [mended])).toMatchObject({ halted: null });
    await replayInto(folder.at('whole'), [folder.writeLines('whole.ndjson', LINES)]);
    expect(dumpViews(dataDir)).toEqual(dumpViews(folder.at('whole')));
  });
});

describe('dead-letters retry', () => {
  it('applies the stored bytes at their own place, with the settings of serve', async () => {
    const feed = folder.writeLines('feed.ndjson', LINES);
    const strict = await replayInto(dataDir, [feed], { recordTimeGapMaxUs: 600_000_000 });
    expect(strict.halted).toMatchObject({ kind: 'gap', field: 'record_time' });
    const { updateId, recordTime } = strict.halted!;
    const before = dumpViews(dataDir);
    const refused = await deadLetters('retry', '--record-time-gap-max', '10m');
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /nothing has changed: record_time: given .*; to continue: .*`holdfast dead-letters drop 1 --data \S+`/,
      ),
    });
    expect(dumpViews(dataDir)).toEqual(before);
    expect(await deadLetters('retry')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('dead letter 1 is applied'),
    });
    await expectSound();
    const applied = dumpViews(dataDir);
    expect(applied.synchronizer!.join('\n')).toContain(` | ${recordTime} | `);
    expect(applied.last_update!.join('\n')).toContain(`x'${updateId}'`);
    expect(await replayInto(dataDir, [feed])).toMatchObject({ halted: null });
    await replayInto(folder.at('whole'), [feed]);
    expect(dumpViews(dataDir)).toEqual(dumpViews(folder.at('whole')));
  });

  it('is refused where nothing is halted', async () => {
    await replayInto(dataDir, []);
    expect(await deadLetters('retry')).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing is halted') });
  });
});

describe('the line of a halt', () => {
  const replay = (file: string): ReturnType<typeof holdfast> => holdfast('replay', '--data', dataDir, file);
  const HALF = LINES[BAD_AT - 1]!.slice(0, 100);

  it('names a cut last line, and that nothing is lost by dropping it and replaying the whole file', async () => {
    const feed = folder.writeLines('feed.ndjson', [...LINES.slice(0, BAD_AT - 1), HALF]);
    const { code, stderr } = await replay(feed);
    expect(code).toBe(3);
    expect(stderr).toContain('; this looks cut off; to continue: ');
    expect(stderr).toContain('. The line looks cut off: then drop it and replay the whole file; nothing is lost');
    expect((await deadLetters('show', '1')).stdout).toContain('The line looks cut off');
    const dropped = await deadLetters('drop', '1');
    expect(dropped.stderr).toContain('it cannot be read as an update; only exactly these bytes are skipped');
    expect(dropped.stderr).not.toContain('no total will ever include it');
    expect((await deadLetters('drop', '1', '--yes')).code).toBe(0);
    const whole = folder.writeLines('feed.ndjson', LINES);
    expect((await replay(whole)).code).toBe(0);
    await replayInto(folder.at('whole'), [whole]);
    expect(dumpViews(dataDir)).toEqual(dumpViews(folder.at('whole')));
  });

  it('names the directory in its commands, and says of a later file that it was not read', async () => {
    const feed = folder.writeLines('feed.ndjson', ['{"update_id":1}']);
    const first = await replay(feed);
    expect(first.stderr).toContain(`\`holdfast dead-letters drop 1 --data ${dataDir}\``);
    expect(first.stderr).toContain(`\`holdfast dead-letters retry --data ${dataDir}\``);
    expect(first.stderr).not.toContain('nothing was read');
    const other = folder.writeLines('other.ndjson', LINES);
    expect((await replay(other)).stderr).toMatch(
      `holdfast: nothing was read from ${other}, because of an earlier halt: halted at ${feed}, message 1: `,
    );
    const shown = await deadLetters('show', '1');
    expect(shown.stdout).toContain(`\`holdfast dead-letters drop 1 --data ${dataDir}\``);
    const [listed] = JSON.parse((await deadLetters('list', '--json')).stdout) as { next: string }[];
    expect(listed!.next).toContain(`\`holdfast dead-letters drop 1 --data ${dataDir}\``);
  });
});
