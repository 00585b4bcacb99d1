import { spawn } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { type FakeScanOptions, startFakeScan } from '../demo/local-scan.ts';
import { startFakeParticipant } from './support/ledger-api/server.ts';
import { holdfast } from './support/program/command.ts';
import { freePorts } from './support/program/free-ports.ts';
import { programEnv } from './support/program/soak.ts';
import { type TemporaryDirectory, temporaryDirectory } from './support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '..');
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })];
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Where what pages name by example is in a test. */
interface Places {
  /** In the place of 8080 and 8081. */
  readonly ports: readonly [number, number];
  readonly broker: string;
  readonly topic: string;
  /** In place of each https://scan.sv-1.example, by its number. */
  readonly scans: readonly string[];
  readonly participant: string;
}

/** The blocks of a page that a reader types into a shell, each with the line it begins at. */
function blocksOf(page: string): { readonly name: string; readonly commands: string }[] {
  const text = read(page);
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((found) => ({
    name: `${page}:${text.slice(0, found.index).split('\n').length}`,
    commands: found[1]!,
  }));
}

/**
 * What pages speak of as given: feed files, a topic that holds them, and for the block on dead letters a directory that
 * is halted.
 */
async function setTheScene(directory: TemporaryDirectory, commands: string, at: Places): Promise<void> {
  const feed = read('fixtures/story.scan.ndjson');
  writeFileSync(directory.at('history.ndjson'), feed);
  writeFileSync(directory.at('more.ndjson'), feed);
  writeFileSync(directory.at('participant.ndjson'), read('fixtures/story.ledger-api.ndjson'));
  writeFileSync(directory.at('history.ndjson.gz'), gzipSync(feed));
  writeFileSync(directory.at('token'), 'jwt');
  if (commands.includes('--kafka-topic') && !commands.includes('--create')) {
    const topic = ['--kafka-brokers', at.broker, '--kafka-topic', at.topic, '--create', directory.at('history.ndjson')];
    expect(await holdfast('produce', ...topic)).toMatchObject({ code: 0 });
  }
  if (!commands.includes('dead-letters')) return;
  const halted = directory.writeLines('halted.ndjson', ['{"update_id": 1}']);
  expect(await holdfast('replay', '--data', directory.at('data'), halted)).toMatchObject({ code: 3 });
}

/**
 * `holdfast serve` runs beside what follows, until another one takes its place (one that only reads leaves the others)
 * or the block ends. npm is not run: what it would start is looked up. A comment that ends in `exit 3` says what the
 * command before it exits with.
 */
function scriptOf(commands: string, { ports: [port, other], broker, topic, scans, participant }: Places): string {
  const lines = commands
    .replaceAll(/(?<=127\.0\.0\.1:|--port )8080\b/g, String(port))
    .replaceAll(/(?<=127\.0\.0\.1:|--port )8081\b/g, String(other))
    .replaceAll('kafka:9092', broker)
    .replaceAll(/https:\/\/scan\.sv-(\d)\.example/g, (_, number: string) => scans[Number(number) - 1]!)
    .replaceAll('https://participant.example:7575', participant)
    .replaceAll('--kafka-topic updates', `--kafka-topic ${topic}`)
    .replaceAll(/ (fixtures|scripts)\//g, ` ${root}/$1/`)
    .split('\n')
    .map((line) => {
      const [, command, comment = ''] = /^(.*?)(?:\s+#\s(.*))?$/.exec(line)!;
      const exits = /exit (\d)$/.exec(comment)?.[1];
      return exits === undefined ? command : `${command} && exit 1 || [ $? = ${exits} ]`;
    });
  return `set -e
    services=
    end() { for each in $services; do kill $each; wait $each; done; services=; }
    # Also where a command fails.
    trap 'for each in $services; do kill $each; done' EXIT
    holdfast() {
      if [ "$1" = decode ]; then
        '${process.execPath}' '${root}/dist/main.js' "$@" 2>decode.log & started=$!
        until grep -q 'decoding a partition' decode.log; do kill -0 $started || { cat decode.log >&2; return 1; }; sleep 0.1; done
        kill $started; wait $started; return
      fi
      if [ "$1" != serve ]; then '${process.execPath}' '${root}/dist/main.js' "$@"; return; fi
      case " $* " in *' --read-only '*) ;; *) end ;; esac
      case " $* " in *' --port ${other} '*) at=${other} ;; *) at=${port} ;; esac
      HOLDFAST_PORT=${port} '${process.execPath}' '${root}/dist/main.js' "$@" 2>service.log & started=$!
      services="$services $started"
      # A port that is shared may be answered by another one before this one listens.
      until grep -q '"msg":"listening"' service.log; do
        kill -0 $started || { cat service.log >&2; return 1; }
        sleep 0.1
      done
      for i in $(seq 400); do
        kill -0 $started || { cat service.log >&2; return 1; }
        command curl -s http://127.0.0.1:$at/readyz >ready.json || true
        grep -qE '"ready":true|"reasons":\\["no snapshot is sealed yet"' ready.json && return
        sleep 0.2
      done
      echo 'not ready:' >&2; cat ready.json service.log >&2; return 1
    }
    # A stream has no end: what counts is that it brings the newest snapshot.
    curl() {
      if [ "$1" != -N ]; then command curl -sS --fail-with-body "$@"; return; fi
      command curl -sS "$@" >stream.txt & local asked=$!
      for i in $(seq 800); do grep -q '^event: snapshot' stream.txt && { kill $asked; return; }; sleep 0.1; done
      echo 'no snapshot in the stream:' >&2; cat stream.txt >&2; return 1
    }
    npm() { [ "$1" = run ] && shift; case ' ${Object.keys(scripts).join(' ')} ' in *" $1 "*) ;; *) echo "no script $1" >&2; return 1;; esac; }
    ${lines.join('\n')}
    end`;
}

/** The story, as a Scan has it. */
const STORY: FakeScanOptions = {
  lines: read('fixtures/story.scan.ndjson').trim().split('\n'),
  dso: 'DSO::1220bba319c9c823d166e41281696923ad9481c065e891e86e9b257381fa82439928',
  snapshots: ['2025-02-12T00:30:00Z'],
};

/** The story as a participant has it, which hosts the parties that the pages name. */
const LEDGER_API_STORY = read('fixtures/story.ledger-api.ndjson').trim().split('\n');
const PARTIES = ['alice::1220ab', 'bob::1220cd'];

const blocks = pages.flatMap(blocksOf);
const mentions = pages.flatMap((page) =>
  [...read(page).matchAll(/`holdfast ([a-z-]+)([^`]*)`/g)].map(([, command, rest]) => ({
    command: command!,
    rest: rest!,
  })),
);

describe('the commands of README and docs', () => {
  it.each(blocks)('at $name do what they say', async ({ commands }) => {
    using directory = temporaryDirectory();
    const ports = (await freePorts(2)) as [number, number];
    await using first = await startFakeScan(STORY);
    await using second = await startFakeScan(STORY);
    await using participant = await startFakeParticipant({
      lines: LEDGER_API_STORY,
      localParties: PARTIES,
      token: 'jwt',
    });
    const at = {
      ports,
      broker: inject('kafka').addresses.plain,
      topic: `documented-${ports[0]}`,
      scans: [first.url, second.url],
      participant: participant.url,
    };
    await setTheScene(directory, commands, at);
    const script = scriptOf(commands, at);
    const shell = spawn('bash', ['-c', script], {
      cwd: directory.path,
      env: programEnv(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = text(shell.stderr);
    const code = await new Promise((resolve) => {
      shell.once('close', resolve);
    });
    expect({ code, said: code === 0 ? '' : (await said).slice(-2000) }).toEqual({ code: 0, said: '' });
  });

  it.each([...Map.groupBy(mentions, ({ command }) => command)])(
    'that name holdfast %s name options that it has',
    async (command, of) => {
      const { code, stdout } = await holdfast(...command.split(' '), '--help');
      const options = of.flatMap(({ rest }) => [...rest.matchAll(/--[a-z-]+/g)].map(([option]) => option));
      expect(code).toBe(0);
      expect(options.filter((option) => !stdout.includes(option))).toEqual([]);
    },
  );

  it('name npm scripts that there are', () => {
    const named = pages.flatMap((page) => [...read(page).matchAll(/npm run ([a-z:-]+)/g)].map(([, name]) => name!));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
