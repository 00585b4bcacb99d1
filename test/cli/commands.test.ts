import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it, test } from 'vitest';
import { readVersion } from '../../src/version.ts';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post, storyWithoutRounds } from '../support/http/holdings-service.ts';
import { readCsv } from '../support/http/read-csv.ts';
import { asTexts } from '../support/http/table-pages.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast, listedCommands } from '../support/program/command.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const story = readExpected('story');
const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const owners = story.owner_party_ids;
const last = story.snapshots.at(-1)!;
const commands = await listedCommands();

describe('every command', () => {
  test('has help with an example', async () => {
    expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(['serve', 'dead-letters list']));
    for (const { name, usage } of commands) {
      const { code, stdout, stderr } = await holdfast(...name.split(' '), '--help');
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: holdfast ${usage.replace(/( [<[]|$)/, ' [options]$1')}`);
      expect(stdout).toMatch(/\nExamples?:\n {2}\$ .*holdfast /);
    }
  });

  test('names the variable and the default of a setting, and whether it creates the directory', async () => {
    const help = async (name: string) => (await holdfast(name, '--help')).stdout.replaceAll(/\n {10,}/g, ' ');
    expect(await help('serve')).toContain('(default: 8080, env: HOLDFAST_PORT)');
    expect(await help('serve')).toContain('--data <DIR>');
    expect(await help('serve')).toContain('users.db; created if missing (default');
    expect(await help('verify')).toContain('users.db (default');
    expect(await help('fetch')).not.toContain('--data <DIR>');
  });

  test('the program says its version', async () => {
    expect(await holdfast('--version')).toMatchObject({ code: 0, stdout: `${readVersion()}\n`, stderr: '' });
  });

  const refused: readonly [line: string, message: RegExp][] = [
    ['dead-letters', /^holdfast: no command given; `holdfast dead-letters --help` lists them$/],
    ['xyzzy', /^holdfast: unknown command 'xyzzy'; see `holdfast --help`$/],
    ['srve', /^holdfast: unknown command 'srve' \(Did you mean serve\?\)/],
    ['serve --prot 1', /^holdfast: unknown option '--prot' \(Did you mean --port\?\); see `holdfast serve --help`$/],
    ['serve --port x', /^holdfast: --port: given "x", expected a whole number from 0 to 65535/],
    ['serve --config /nonexistent.json', /^holdfast: --config: cannot read \/nonexistent.json/],
    ['serve now', /^holdfast: too many arguments.*: now; see `holdfast serve --help`$/],
    ['replay', /^holdfast: missing required argument 'FILE'/],
    ['replay /nonexistent.ndjson', /^holdfast: feed file \/nonexistent.ndjson does not exist/],
    ['summary', /^holdfast: required option '--owner <PARTY...>' not specified/],
    ['token --expires-in 1h', /^holdfast: required option '--user <ID>' not specified; see `holdfast token --help`$/],
    ['summary --owner alice', /^holdfast: --owner: given "alice", expected a party id/],
    ['summary --owner a::b --at noon', /^holdfast: --at: given "noon", expected an RFC 3339/],
    ['summary --owner a::b --round 1.5', /^holdfast: --round: given "1.5", expected an integer/],
    ['summary --owner a::b --migration 9223372036854775808', /^holdfast: --migration: given/],
    ['serve --read-only=maybe', /^holdfast: --read-only: given "maybe", expected true or false/],
    [
      'serve --dashboard no',
      /^holdfast: option '--dashboard <HOW>' argument 'no' is invalid. Allowed choices are on, off;/,
    ],
  ];
  test.each(refused)('`%s` is refused in one line', async (line, message) => {
    const dir = folder.at(`refused-${line.replaceAll(/\W/g, '-')}`);
    const words = line === '' ? [] : line.split(' ');
    const [command = [], ...rest] = words.length < 2 ? [words] : [[words[0]!, '--data', dir], words.slice(1)];
    const { code, stdout, stderr } = await holdfast(...command, ...rest.flat());
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd()).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect(existsSync(dir)).toBe(false);
  });

  test('a reading one makes nothing where no directory is', async () => {
    const missing = folder.at('missing');
    for (const command of [['summary', '--owner', 'a::b'], ['snapshots'], ['verify']]) {
      const { code, stderr } = await holdfast(...command, '--data', missing);
      expect(code).toBe(2);
      expect(stderr).toContain(`--data ${missing}`);
      expect(existsSync(missing)).toBe(false);
    }
  });
});

describe('replay', () => {
  test('applies files in order and says in one line what it did', async () => {
    const dir = folder.at('replayed');
    const files = [fixture('story.scan.ndjson'), fixture('story-migration.scan.ndjson')];
    const { code, stdout } = await holdfast('replay', '--data', dir, ...files);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^applied 25 updates, 42 events; redelivered 0; dead letters 0; newest snapshot 2025-02-12T01:20:00Z of migration 1\n$/,
    );
    const again = await holdfast('replay', '--data', dir, ...files);
    expect(again.code).toBe(0);
    expect(again.stdout).toMatch(/^applied 0 updates, 0 events; redelivered \d+; dead letters 0;/);
  });

  test('says how many imports came too late', async () => {
    const dir = folder.at('late-imports');
    const text = 'import : +a alice 1\nimport : +b bob 20\n00:01 : -b\nimport : +a alice 1\nimport : +b bob 20';
    const feed = folder.writeLines('late.ndjson', linesOf(parseLedger(text), 'scan'));
    const { code, stdout } = await holdfast('replay', '--data', dir, feed);
    expect(code).toBe(0);
    expect(stdout).toBe(
      'applied 3 updates, 3 events; redelivered 0; dead letters 0; late imports 2; newest snapshot none\n',
    );
  });

  test('seals a last snapshot on request', async () => {
    const dir = folder.at('sealed');
    await holdfast('replay', '--data', dir, '--seal', fixture('story.scan.ndjson'));
    const { stdout } = await holdfast('snapshots', '--data', dir, '--json');
    expect(JSON.parse(stdout)).toHaveLength(story.snapshots.length + 1);
  });

  test('ends with 3 at a bad update and says where, why and what to do', async () => {
    const dir = folder.at('halted');
    const feed = folder.writeLines('bad.ndjson', ['{"update_id": "\u202e"}']);
    const { code, stdout, stderr } = await holdfast('replay', '--data', dir, feed);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^applied 0 updates, .* dead letters 1; newest snapshot none\n$/);
    expect(stderr).toContain(`holdfast: halted at ${feed}, message 1: `);
    expect(stderr).toContain('holdfast dead-letters drop 1');
    expect(stderr).not.toContain('\u202e');
    const quarantining = folder.at('quarantined');
    const quarantined = await holdfast('replay', '--data', quarantining, '--on-bad-update', 'quarantine', feed);
    const says = `holdfast: 1 update quarantined; see \`holdfast dead-letters list --data ${quarantining}\`\n`;
    expect(quarantined).toMatchObject({ code: 3, stderr: says });
    const again = await holdfast('replay', '--data', quarantining, feed);
    expect(again.stdout).toMatch(/^applied 0 updates, .* dead letters 0; left out before 1; newest snapshot none\n$/);
  });
});

describe('snapshots', () => {
  const NO_TOKENS = { tokens_changes_digest: null, tokens_digest: null };

  test('lists them for programs, in order', async () => {
    const { code, stdout } = await holdfast('snapshots', '--data', dataDir, '--json');
    expect(code).toBe(0);
    const expected = story.snapshots.map(
      ({ summary_v1: _1, summaries_v0: _0, state_v1: _s, state_v0_event_ids: _e, ...listed }) => ({
        ...listed,
        ...NO_TOKENS,
      }),
    );
    expect(JSON.parse(stdout)).toEqual(expected);
    const names = ['migration_id', 'record_time', 'contracts', 'owners', 'unlocked', 'locked'];
    const digests = ['changes_digest', 'digest', ...Object.keys(NO_TOKENS)];
    expect(Object.keys(JSON.parse(stdout)[0])).toEqual([...names, 'forced', 'total', ...digests]);
    const { rows } = readCsv((await holdfast('snapshots', '--data', dataDir, '--csv')).stdout);
    expect(rows).toEqual(expected.map(asTexts));
  });

  test('lists them for people, one on a line', async () => {
    const { stdout } = await holdfast('snapshots', '--data', dataDir);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^migration {2}record time {2,}contracts {2}owners {2,}unlocked {2,}locked {2}forced {2,}total {2}changes digest {2,}digest {2,}tokens changes digest {2}tokens digest$/,
    );
    expect(lines).toHaveLength(story.snapshots.length + 1);
  });
});

describe('summary', () => {
  const summary = (...args: readonly string[]): ReturnType<typeof holdfast> =>
    holdfast('summary', '--data', dataDir, '--owner', ...owners, ...args);

  test('is the answer of the HTTP operation', async () => {
    for (const expected of story.snapshots[2]!.summaries_v0) {
      const round = String(expected.computed_as_of_round);
      const { code, stdout } = await summary('--at', story.snapshots[2]!.record_time, '--round', round, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toEqual(expected);
    }
  });

  test('is of the newest snapshot and the lowest open round by default', async () => {
    using service = openHoldings(dataDir);
    const request = { migration_id: 0, record_time: last.record_time, owner_party_ids: owners };
    const answer = await (await post(service.app, '/v0/holdings/summary', request)).text();
    expect(JSON.parse((await summary('--json')).stdout)).toEqual(JSON.parse(answer));
  });

  test('is a table for people', async () => {
    const { stdout } = await summary('--round', '103');
    expect(stdout).toMatch(
      /^migration 0, snapshot 2025-02-12T01:10:00Z, fees as of round 103\n\nparty id {2,}unlocked coin /,
    );
    expect(stdout.trimEnd().split('\n')).toHaveLength(3 + owners.length);
  });

  test('leaves out owners without coin on request', async () => {
    const { stdout } = await summary('nobody::1', '--empty-owners', 'omit', '--json');
    expect(stdout).not.toContain('nobody::1');
  });

  test('ends with 4 where there is no such snapshot, and names the command that lists them', async () => {
    for (const [args, says] of [
      [
        ['--at', '2025-02-12T00:15:00Z'],
        'Failed to find ACS snapshot for the largest migration at 2025-02-12T00:15:00Z',
      ],
      [
        ['--migration', '7'],
        'No snapshots found in migration 7; one is sealed once the feed goes past the next grid time, or by `holdfast replay FILE --seal`',
      ],
    ] as const) {
      const { code, stdout, stderr } = await summary(...args);
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toBe(`holdfast: ${says}; \`holdfast snapshots\` lists those there are\n`);
    }
  });

  test('has totals without fees where no round is known, and says so', async () => {
    const dir = folder.at('without-rounds');
    const feed = folder.writeLines('without-rounds.ndjson', storyWithoutRounds());
    await holdfast('replay', '--data', dir, feed);
    const { code, stdout, stderr } = await holdfast('summary', '--data', dir, '--owner', owners[0]!, '--json');
    expect(code).toBe(0);
    expect(stderr).toContain('no open mining round is known');
    const answer = JSON.parse(stdout);
    expect(Object.keys(answer)).toEqual(['record_time', 'migration_id', 'summaries']);
    expect(Object.keys(answer.summaries[0])).toEqual([
      'party_id',
      'total_unlocked_coin',
      'total_locked_coin',
      'total_coin_holdings',
    ]);
    expect((await holdfast('summary', '--data', dir, '--owner', owners[0]!, '--round', '5')).stderr).toBe('');
  });
});

const DSO = partyOf('DSO');
const OTHER = partyOf('other');

/** Writes a feed that carries no migration id. */
function writeFeed(directory: TemporaryDirectory): string {
  return directory.writeLines('feed.ndjson', linesOf(parseLedger('00:01 : +a alice 10\n00:11 :'), 'ledger-api'));
}

it('the settings of a data directory are kept, and others are refused with code 2 and in one line', async () => {
  using directory = temporaryDirectory();
  const replay = ['replay', '--data', directory.at('data'), writeFeed(directory)];
  const settings = ['--dso', DSO, '--migration-id', '3', '--snapshot-period', '10m'];
  expect((await holdfast(...replay, ...settings)).code).toBe(0);
  expect((await holdfast(...replay)).code).toBe(0);
  expect((await holdfast(...replay, ...settings)).code).toBe(0);
  const otherwise = 'use another --data, or move views.db away and replay the feed with it';
  for (const [option, value, says] of [
    ['--dso', OTHER, `the views of this directory count the coins of ${DSO}; ${otherwise}`],
    ['--migration-id', '4', `this directory has read a feed that names none as migration 3; ${otherwise}`],
    ['--snapshot-period', '1h', `this directory was created with 10m; leave the option out, ${otherwise}`],
  ] as const) {
    const stderr = `holdfast: ${option} ${value}: ${says}\n`;
    expect(await holdfast(...replay, option, value)).toEqual({ code: 2, stdout: '', stderr });
  }
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

it('the DSO of a replay is warned about where it is the first one seen, with the option that pins it', async () => {
  using directory = temporaryDirectory();
  const replay = ['replay', '--data', directory.at('data'), writeFeed(directory)];
  const { stderr } = await holdfast(...replay);
  const msg = `the DSO is the first one seen; pin it with --dso "${DSO}"`;
  expect(JSON.parse(stderr.trimEnd())).toMatchObject({ level: 40, dso: DSO, msg });
  expect((await holdfast(...replay, '--dso', DSO)).stderr).toBe('');
  expect((await holdfast(...replay)).stderr).toBe('');
});
