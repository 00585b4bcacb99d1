import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockForWriting } from '../../src/views/writer-lock.ts';
import { holdfast } from '../support/command.ts';
import { feedLines } from '../support/feed-lines.ts';
import { replay, type Scratch, scratch, tablesOf } from '../support/replaying.ts';

let folder: Scratch;
let dataDir: string;

beforeEach(() => {
  folder = scratch();
  dataDir = join(folder.path, 'data');
});
afterEach(() => folder[Symbol.dispose]());

const LINES = feedLines(21, 'scan', { migrations: 1 });
const BAD_AT = 100;
const HOSTILE = '{"update_id":"\u001b]0;owned\u0007\u202e","record_time":"2025-02-12T00:00:00Z"';

/** The lines with something in place of line BAD_AT (from 1). */
function linesWith(...instead: readonly (string | Buffer)[]): (string | Buffer)[] {
  return [...LINES.slice(0, BAD_AT - 1), ...instead, ...LINES.slice(BAD_AT)];
}

function deadLetters(...args: readonly string[]): ReturnType<typeof holdfast> {
  return holdfast('dead-letters', ...args, '--data', dataDir);
}

describe('dead-letters list and show', () => {
  it('tell what stopped, where, and which command comes next', async () => {
    const feed = folder.file('feed.ndjson', linesWith('{"foo":1}'));
    await replay(dataDir, [feed]);
    const { code, stdout } = await deadLetters('show', '1');
    expect(code).toBe(0);
    expect(stdout).toContain(`place        ${feed}, message ${BAD_AT}\n`);
    expect(stdout).toContain('field        message\n');
    expect(stdout).toContain('given        {"foo":1}\n');
    expect(stdout).toContain('expected     one update');
    expect(stdout).toContain('holdfast dead-letters drop 1');
    expect(stdout).toContain('\n{"foo":1}\n');
    const listed = await deadLetters('list');
    expect(listed.stdout).toMatch(
      /^id +decision +kind +place +update +reason\n *1 +halted +update +\S+ message 100 +- /,
    );
  });

  it('give programs JSON, with the bytes in base64', async () => {
    await replay(dataDir, [folder.file('feed.ndjson', linesWith(Buffer.from([0x7b, 0xff, 0x7d])))]);
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
    await replay(dataDir, [folder.file('feed.ndjson', linesWith(HOSTILE))]);
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

  it('refuse a number that is none, and one that nothing has', async () => {
    await replay(dataDir, []);
    expect(await deadLetters('show', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('given "x"') });
    expect(await deadLetters('show', '7')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no dead letter 7'),
    });
    expect((await deadLetters('list')).stdout).toBe('no dead letters\n');
  });

  it('work beside a writer, and what changes something names its process', async () => {
    await replay(dataDir, [folder.file('feed.ndjson', linesWith('{"foo":1}'))]);
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
    await replay(dataDir, [
      folder.file('feed.ndjson', linesWith(JSON.stringify({ ...update, record_time: '2026-12-01T00:00:00Z' }))),
    ]);
    const { code, stderr } = await deadLetters('drop', '1');
    expect(code).toBe(2);
    expect(stderr).toMatch(/it creates \d+ and archives \d+ coins and rounds; no total will ever have what it says/);
    expect(stderr).toContain('--yes');
    expect((await deadLetters('list')).stdout).toContain('halted');
  });

  it('goes on after the message, from the start of the same file too, and counts the skipped bytes', async () => {
    const feed = folder.file('feed.ndjson', linesWith('{"foo":1}', LINES[BAD_AT - 1]!));
    const first = await replay(dataDir, [feed]);
    expect(first.halted).toMatchObject({ id: 1, offset: BAD_AT });
    const again = await replay(dataDir, [feed]);
    expect(again).toMatchObject({ halted: { id: 1 }, counts: { updates: 0 } });
    expect(await deadLetters('drop', '1', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`goes on behind ${feed}, message ${BAD_AT}`),
    });
    const { halted, counts } = await replay(dataDir, [feed]);
    expect(halted).toBeNull();
    expect(counts).toMatchObject({ decided: 1 });
    await replay(join(folder.path, 'without'), [folder.file('without.ndjson', LINES)]);
    expect(tablesOf(dataDir, ['dead_letter'])).toEqual(tablesOf(join(folder.path, 'without'), ['dead_letter']));
    // The same bytes from another source are skipped as well.
    const other = await replay(dataDir, [folder.file('other.ndjson', ['{"foo":1}'])]);
    expect(other).toMatchObject({ halted: null, counts: { decided: 1 } });
  });

  it('is refused for what is not halted', async () => {
    await replay(dataDir, [folder.file('feed.ndjson', linesWith('{"foo":1}'))], { onBadUpdate: 'quarantine' });
    const { code, stderr } = await deadLetters('drop', '1', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain('dead letter 1 is quarantined, not halted');
  });

  it('drops an over-long message, which cannot be retried', async () => {
    const long = `{"update_id":"${'x'.repeat(17 * 2 ** 20)}"}`;
    const feed = folder.file('feed.ndjson', linesWith(long, LINES[BAD_AT - 1]!));
    await replay(dataDir, [feed]);
    const shown = JSON.parse((await deadLetters('show', '1', '--json')).stdout) as { bytes: string };
    expect(shown).toMatchObject({ kind: 'overlong', length: long.length });
    expect(Buffer.from(shown.bytes, 'base64').toString()).toBe(long.slice(0, 65_536));
    const retried = await deadLetters('retry');
    expect(retried.code).toBe(3);
    expect(retried.stderr).toContain('can only be dropped');
    expect((await deadLetters('drop', '1', '--yes')).code).toBe(0);
    expect(await replay(dataDir, [feed])).toMatchObject({ halted: null, counts: { decided: 1 } });
  });

  it('ends the halt at a broken container and remembers nothing of it', async () => {
    const feed = folder.file('page.json', [`[${LINES.slice(0, BAD_AT).join(',\n')},`]);
    expect(await replay(dataDir, [feed])).toMatchObject({ halted: { kind: 'container' } });
    const retried = await deadLetters('retry');
    expect(retried).toMatchObject({ code: 3, stderr: expect.stringContaining('read the file again from its start') });
    expect((await deadLetters('drop', '1', '--yes')).code).toBe(0);
    expect(await replay(dataDir, [feed])).toMatchObject({ halted: { id: 2, kind: 'container' } });
    expect((await deadLetters('drop', '2', '--yes')).code).toBe(0);
    const mended = folder.file('page.json', [`[${LINES.join(',\n')}]`]);
    expect(await replay(dataDir, [mended])).toMatchObject({ halted: null });
    await replay(join(folder.path, 'whole'), [folder.file('whole.ndjson', LINES)]);
    expect(tablesOf(dataDir, ['dead_letter'])).toEqual(tablesOf(join(folder.path, 'whole'), ['dead_letter']));
  });
});

describe('dead-letters retry', () => {
  it('applies the stored bytes at their own place, with the settings of serve', async () => {
    const feed = folder.file('feed.ndjson', LINES);
    const strict = await replay(dataDir, [feed], { recordTimeGapMaxUs: 600_000_000 });
    expect(strict.halted).toMatchObject({ kind: 'update', field: 'record_time' });
    const { updateId, recordTime } = strict.halted!;
    const before = tablesOf(dataDir);
    const refused = await deadLetters('retry', '--record-time-gap-max', '10m');
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('nothing has changed: record_time: given'),
    });
    expect(tablesOf(dataDir)).toEqual(before);
    expect(await deadLetters('retry')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('dead letter 1 is applied'),
    });
    const { synchronizer, position } = tablesOf(dataDir);
    expect(synchronizer!.join('\n')).toContain(`record_time=${recordTime} update_id=x'${updateId}'`);
    expect(position).toHaveLength(1);
    expect(await replay(dataDir, [feed])).toMatchObject({ halted: null });
    await replay(join(folder.path, 'whole'), [feed]);
    expect(tablesOf(dataDir, ['dead_letter'])).toEqual(tablesOf(join(folder.path, 'whole'), ['dead_letter']));
  });

  it('is refused where nothing is halted', async () => {
    await replay(dataDir, []);
    expect(await deadLetters('retry')).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing is halted') });
  });
});
