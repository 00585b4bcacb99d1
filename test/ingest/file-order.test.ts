import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { dropHalted } from '../../src/ingest/resolve-halt.ts';
import { clockTime, parseLedger } from '../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { type Format, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const directory = freshDirectory();

/** Ledgers as files called a, b, c ..., in this order. */
function write(texts: readonly string[], format: Format = 'scan'): string[] {
  return texts.map((text, i) => directory.writeLines('abc'[i]!, linesOf(parseLedger(text), format)));
}

/** What a replay of the files says: why they are refused, or where it halts; null where all of them were applied. */
async function replayed(files: readonly string[]): Promise<string | null> {
  try {
    const { halted } = await replayInto(directory.at('data'), files);
    return halted && `halted at ${halted.source.split('/').at(-1)}, message ${halted.offset}: ${halted.expected}`;
  } catch (error) {
    if (existsSync(directory.at('data'))) expect(dumpViews(directory.at('data')).migration).toEqual([]);
    return (error as Error).message.replaceAll(`${directory.path}/`, '');
  }
}

const DAY_1 = '00:01 : +a alice 5\n00:11 : +b alice 2';
const IGNORED = '{"update":{"TopologyTransaction":{"value":{}}}}';
const DAY_2 = '00:21 : +c alice 7\n00:31 : -c';

describe('files of one command', () => {
  it('are refused where one begins before an earlier one, before anything of them is applied, naming both', async () => {
    expect(await replayed(write([DAY_2, DAY_1]))).toBe(
      'b is given after a and begins before it: its first update of synchronizer s1 in migration 0 has the record time ' +
        '2025-02-12T00:01:00Z, that of the other 2025-02-12T00:21:00Z; give the files in the order of their updates',
    );
    expect(existsSync(directory.at('data'))).toBe(false);
  });

  it.each([
    ['in order', [DAY_1, DAY_2]],
    ['the same twice', [DAY_1, DAY_1]],
    ['that overlap', [DAY_1, `00:11 =u2 : +b alice 2\n${DAY_2}`]],
    ['of other synchronizers', [DAY_2, DAY_1.replaceAll(' :', ' @s2 :')]],
    ['of other migrations, the newer one first', [DAY_2.replaceAll(' :', ' m1 :'), DAY_1]],
    ['that hold nothing', ['', DAY_1]],
    ['with imports first', ['import m1 : +x alice 1', '00:01 m1 : +a alice 5']],
    ['that begin with imports, both', ['import m1 : +x alice 1\n00:21 m1 :', 'import m1 : +x alice 1\n00:21 m1 :']],
    ['with imports of another migration after', [DAY_2, 'import m1 : +x alice 1']],
  ])('are taken: %s', async (_, texts) => {
    expect(await replayed(write(texts))).toBeNull();
  });

  it.each([
    ['after a file between that lacks its synchronizer', [DAY_2, '00:41 @s2 :', DAY_1], 'c is given after a'],
    ['in one of its synchronizers', [`00:41 @s2 :\n${DAY_1}`, `${DAY_2}\n00:40 @s2 :`], 'b is given after a'],
    ['with imports', ['00:01 m1 : +a alice 5', 'import m1 : +x alice 1'], 'begins with imports of migration 1, and'],
    ['with checkpoints before it', [DAY_2, `checkpoint : @s1 00:00\n${DAY_1}`], 'b is given after a'],
  ])('are refused where one begins too early %s', async (_, texts, says) => {
    expect(await replayed(write(texts, texts.join().includes('checkpoint') ? 'ledger-api' : 'scan'))).toContain(says);
  });

  it.each<[string, (lines: readonly string[]) => string | Buffer]>([
    ['gzip', (lines) => gzipSync(`${lines.join('\n')}\n`)],
    ['an array longer than what is looked at', (lines) => `[${[...lines, `"${'x'.repeat(2 ** 21)}"`].join(',')}]`],
    ['broken lines before it', (lines) => `${IGNORED}\n{"foo":1}\n\xff\nnull\n{"update_id":\n${lines.join('\n')}`],
    ['an over-long line after it', (lines) => `${lines.join('\n')}\n"${'x'.repeat(2 ** 21)}"`],
  ])('are looked at in every form: %s', async (_, wrap) => {
    const files = write([DAY_2, DAY_1]);
    writeFileSync(files[1]!, wrap(linesOf(parseLedger(DAY_1), 'scan')));
    expect(await replayed(files)).toContain('b is given after a and begins before it');
  });

  it('are refused where one has updates printed over several lines', async () => {
    const files = write([DAY_1, DAY_2]);
    const lines = linesOf(parseLedger(DAY_2), 'scan').map((line) => JSON.stringify(JSON.parse(line), null, 1));
    writeFileSync(files[1]!, lines.join('\n'));
    expect(await replayed(files)).toContain('feed file b has JSON printed over several lines, expected one update per');
  });

  it('are compared across the formats, where they are of one migration', async () => {
    const [a, b] = write([DAY_2, DAY_1]) as [string, string];
    directory.writeLines('b', linesOf(parseLedger(DAY_1), 'ledger-api'));
    expect(await replayed([a, b])).toContain('b is given after a');
    const { halted } = await replayInto(directory.at('other'), [a, b], { migrationId: 3 });
    expect(halted).toBeNull();
  });

  it('are compared by their imports in the Ledger API form too', async () => {
    const [a, b] = write(['00:01 m1 : +a alice 5', 'import m1 : +x alice 1 ; +y alice 2'], 'ledger-api');
    expect(await replayed([a!, b!])).toContain('b is given after a and begins before it: it begins with imports of');
    expect(await replayed([b!, a!])).toBeNull();
  });

  it('are left to the rule where the early update is beyond what is looked at: it halts there', async () => {
    const [a, b] = write([DAY_2, DAY_1.replaceAll(' :', ' @s2 :')]) as [string, string];
    const filler = Array.from({ length: 3_000 }, () => linesOf(parseLedger('00:21 : +c alice 7'), 'scan')[0]!);
    expect(filler.join('\n').length).toBeGreaterThan(2 ** 20);
    directory.writeLines('a', [...filler, ...linesOf(parseLedger('00:41 @s2 :'), 'scan')]);
    expect(await replayed([a, b])).toBe(
      'halted at b, message 1: a time from 2025-02-12T00:41:00Z on, that of the first update known of this synchronizer',
    );
  });

  it.each([
    ['JSON of another kind', '{"foo":1}', '{"foo":1}, expected one update, as an item of Scan /v2/updates or of the'],
    ['text', '# Notes', '"# Notes", expected JSON (Unexpected token'],
    ['bytes', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0a, 0x0a]), '"\ufffdPNG", expected UTF-8 text'],
  ])(
    'are refused before anything is written where one is no feed, and nothing was applied: %s',
    async (_, line, says) => {
      const [a, b] = write([DAY_1, DAY_2]) as [string, string];
      for (const wrong of [a, b]) {
        const good = readFileSync(wrong);
        writeFileSync(wrong, Buffer.concat([Buffer.from(line), Buffer.from('\n'), good]));
        const name = wrong === a ? 'a' : 'b';
        expect(await replayed([a, b])).toContain(`${name} is not a feed: line 1 is ${says}`);
        expect(existsSync(directory.at('data'))).toBe(false);
        writeFileSync(wrong, good);
      }
    },
  );

  it('are refused as no feed in a directory that was made and has nothing yet, and halt once it has something', async () => {
    const [a, b] = write([DAY_1, DAY_2]) as [string, string];
    const readme = directory.writeLines('readme', ['# Notes']);
    expect(await replayed([directory.writeLines('empty', [])])).toBeNull();
    expect(await replayed([readme])).toContain('readme is not a feed: line 1 is "# Notes"');
    expect(await replayed([a])).toBeNull();
    expect(await replayed([readme, b])).toContain('halted at readme, message 1: JSON');
  });

  it('halt at an update of a feed that is bad or cut off, though it is the first', async () => {
    const [a] = write([DAY_1]) as [string];
    const [line = ''] = linesOf(parseLedger(DAY_1), 'scan');
    for (const [i, bad] of [line.slice(0, -9), line.replace('record_time', 'recorded')].entries()) {
      directory.writeLines('a', [bad]);
      expect((await replayInto(directory.at(`data ${i}`), [a])).halted).toMatchObject({ offset: 1 });
    }
  });

  it('ignore a message that was dropped', async () => {
    const [a, b] = write([`23:59 m0 : +z nobody 1\n${DAY_1}`, DAY_2]) as [string, string];
    const noon = { now: () => clockTime('12:00'), recordTimeAheadMaxUs: 0 };
    expect((await replayInto(directory.at('data'), [a], noon)).halted).toMatchObject({ kind: 'ahead', id: 1 });
    expect(await replayed([a, b])).toContain('b is given after a');
    dropHalted(directory.at('data'), 1);
    expect(await replayed([a, b])).toBeNull();
  });

  it('of a pipe are not looked at, because what was read once is gone; the rule applies there too', async () => {
    const [a, b] = write([DAY_2, DAY_1]) as [string, string];
    const pipe = directory.namedPipe('pipe');
    const [outcome] = await Promise.all([replayed([a, pipe]), writeFile(pipe, readFileSync(b))]);
    expect(outcome).toContain('halted at pipe, message 1: a time from 2025-02-12T00:21:00Z on');
  });
});
