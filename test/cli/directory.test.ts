import { describe, expect, it } from 'vitest';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const DSO = partyOf('DSO');
const OTHER = partyOf('other');

/** Writes a feed that carries no migration id. */
function writeFeed(directory: TemporaryDirectory): string {
  return directory.writeLines('feed.ndjson', linesOf(parseLedger('00:01 : +a alice 10\n00:11 :'), 'ledger-api'));
}

describe('the settings of a data directory', () => {
  it.each([
    [
      '--dso',
      DSO,
      OTHER,
      `--dso ${OTHER}: the views of this directory count the coins of ${DSO}; use another --data, or move views.db away and replay the feed with it`,
    ],
    [
      '--migration-id',
      '3',
      '4',
      '--migration-id 4: this directory has read a feed that names none as migration 3; use another --data, or move views.db away and replay the feed with it',
    ],
    [
      '--snapshot-period',
      '10m',
      '1h',
      '--snapshot-period 1h: this directory was created with 10m; leave the option out, use another --data, or move views.db away and replay the feed with it',
    ],
  ])('is refused where %s says otherwise, with code 2 and in one line', async (option, first, second, message) => {
    using directory = temporaryDirectory();
    const replay = ['replay', '--data', directory.at('data'), writeFeed(directory)];
    expect((await holdfast(...replay, option, first)).code).toBe(0);
    expect((await holdfast(...replay)).code).toBe(0);
    expect(await holdfast(...replay, option, second)).toEqual({
      code: 2,
      stdout: '',
      stderr: `holdfast: ${message}\n`,
    });
    expect((await holdfast(...replay, option, first)).code).toBe(0);
  });
});

it('a file in place of a directory is refused as what it is, and no feed is asked for', async () => {
  using directory = temporaryDirectory();
  const file = writeFeed(directory);
  for (const command of [['summary', '--owner', DSO], ['verify'], ['serve', '--read-only']])
    expect(await holdfast(...command, '--data', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: `holdfast: --data ${file}: cannot be read (ENOTDIR: not a directory, stat '${file}/views.db')\n`,
    });
});

describe('the DSO of a replay', () => {
  it('is warned about where it is the first one seen, with the option that pins it', async () => {
    using directory = temporaryDirectory();
    const replay = ['replay', '--data', directory.at('data'), writeFeed(directory)];
    const { stderr } = await holdfast(...replay);
    const [line = '{}', ...rest] = stderr.trimEnd().split('\n');
    expect(rest).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({
      level: 40,
      dso: DSO,
      msg: `the DSO is the first one seen; pin it with --dso "${DSO}"`,
    });
    expect((await holdfast(...replay, '--dso', DSO)).stderr).toBe('');
    expect((await holdfast(...replay)).stderr).toBe('');
  });
});
