import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseLedger } from '../test/support/ledger/parse-ledger.ts';
import { linesOf } from '../test/support/views/replayed.ts';

/**
 * Prints the files and functions of src that one more update, summary, user creation and request of the authenticated user pass.
 * Each walk runs the program twice, the second time with one more of them; V8's coverage counts the calls, and its log of first
 * executions gives their order within a thread. Code at the top of a file is not counted. Timers fire more or less often, so a
 * function counts only where three such pairs agree.
 */

const PAIRS = 3;
const UPDATES = 200;
const REQUESTS = 20;
const src = join(import.meta.dirname, '../src');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-walk-'));

interface Called {
  readonly file: string;
  readonly name: string;
  readonly calls: number;
}

/** The functions that a program called, by file and end position: the two outputs of V8 agree on where a function ends. */
type Calls = ReadonlyMap<string, Called>;

interface Walk {
  readonly title: string;
  /** Runs the program with so many updates or requests; coverage and log go to this folder. */
  readonly run: (count: number, traces: string) => Promise<void>;
  readonly count: number;
}

function start(args: readonly string[], traces: string): ChildProcess {
  const log = ['--log-function-events', `--logfile=${traces}/order.log`];
  const env = { PATH: process.env.PATH, NODE_V8_COVERAGE: traces };
  return spawn(process.execPath, [...log, join(src, 'main.ts'), ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

async function replay(count: number, traces: string): Promise<void> {
  const feed = join(traces, 'feed.ndjson');
  writeFileSync(feed, feedOf(count));
  const program = start(['replay', '--data', join(traces, 'data'), '--decode-workers', '1', feed], traces);
  program.stderr!.resume();
  const [code] = await once(program, 'exit');
  if (code !== 0) throw new Error(`replay ended with exit code ${code}`);
}

function feedOf(updates: number): string {
  const lines = Array.from({ length: updates }, (_, i) => {
    const time = new Date(i * 1000).toISOString().slice(11, 19);
    return `${time} : +a${i} alice${i} 10 ; ${i === 0 ? '+r round 5' : `+b${i} bob${i} 10`}`;
  });
  return `${linesOf(parseLedger(lines.join('\n')), 'scan').join('\n')}\n`;
}

type Ask = (url: string, token: string, number: number) => Promise<Response>;

/** Serves a directory, and makes these requests. */
function requests(ask: Ask): Walk['run'] {
  return async (count, traces) => {
    const data = join(traces, 'data');
    const main = join(src, 'main.ts');
    const feed = join(traces, 'feed.ndjson');
    writeFileSync(feed, feedOf(UPDATES));
    execFileSync(process.execPath, [main, 'replay', '--seal', '--data', data, feed], { stdio: 'ignore' });
    const mint = [main, 'token', '--user', 'participant_admin', '--data', data];
    const token = execFileSync(process.execPath, mint, { encoding: 'utf8', stdio: 'pipe' }).trim();
    const service = start(['serve', '--data', data, '--port', '0'], traces);
    const ended = once(service, 'exit');
    try {
      const url = await listening(service);
      for (let i = 0; i < count; i++) {
        const answer = await ask(url, token, i);
        if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
        await answer.arrayBuffer();
      }
    } finally {
      service.kill('SIGTERM');
      await ended;
    }
  };
}

async function listening(service: ChildProcess): Promise<string> {
  const lines = createInterface({ input: service.stderr! });
  for await (const line of lines) {
    const url = /"url":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    service.stderr!.resume();
    return url;
  }
  throw new Error('the service ended before it listened');
}

function post(url: string, body: object, token?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

function summaryOf(number: number): object {
  return {
    migration_id: 0,
    record_time: '2025-02-12T00:03:19Z',
    record_time_match: 'at_or_before',
    owner_party_ids: [`alice${number}::1220ab`],
  };
}

const WALKS: readonly Walk[] = [
  { title: 'an update of two creates', count: UPDATES, run: replay },
  {
    title: 'POST /v0/holdings/summary of an owner that is not remembered',
    count: REQUESTS,
    run: requests((url, _, number) => post(`${url}/v0/holdings/summary`, summaryOf(number))),
  },
  {
    title: 'POST /v2/users',
    count: REQUESTS,
    run: requests((url, token, number) => post(`${url}/v2/users`, { user: { id: `user-${number}` } }, token)),
  },
  {
    title: 'GET /v2/authenticated-user',
    count: REQUESTS,
    run: requests((url, token) =>
      fetch(`${url}/v2/authenticated-user`, { headers: { authorization: `Bearer ${token}` } }),
    ),
  },
];

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** Calls of functions of src in all threads of a program. */
function callsIn(traces: string): Calls {
  const calls = new Map<string, Called>();
  for (const name of readdirSync(traces).filter((each) => each.startsWith('coverage-'))) {
    const { result } = JSON.parse(readFileSync(join(traces, name), 'utf8')) as Coverage;
    for (const { url, functions } of result.filter(({ url }) => url.startsWith(`file://${src}/`))) {
      const file = relative(src, fileURLToPath(url));
      for (const { functionName, ranges } of functions) {
        const [{ startOffset, endOffset, count }] = ranges as [Coverage['result'][0]['functions'][0]['ranges'][0]];
        if (startOffset === 0 && functionName === '') continue;
        const key = `${file}:${endOffset}`;
        calls.set(key, { file, name: functionName, calls: (calls.get(key)?.calls ?? 0) + count });
      }
    }
  }
  return calls;
}

/** Keys of functions in the order in which each thread first called them. */
function orderIn(traces: string): string[] {
  const order: string[] = [];
  for (const name of readdirSync(traces).filter((each) => each.endsWith('order.log'))) {
    const rows = readFileSync(join(traces, name), 'utf8')
      .split('\n')
      .map((line) => line.split(','));
    const files = new Map<string, string>();
    for (const [kind, script = '', url = ''] of rows) {
      if (kind === 'script-details' && url.startsWith(`file://${src}/`))
        files.set(script, relative(src, fileURLToPath(url)));
    }
    for (const [kind, event, script = '', , end] of rows) {
      const file = files.get(script);
      if (kind === 'function' && event === 'first-execution' && file !== undefined) order.push(`${file}:${end}`);
    }
  }
  return order;
}

async function traced({ run }: Walk, count: number): Promise<{ calls: Calls; order: string[] }> {
  const traces = mkdtempSync(join(folder, 'run-'));
  await run(count, traces);
  return { calls: callsIn(traces), order: orderIn(traces) };
}

async function measure(walk: Walk): Promise<void> {
  let more: ReadonlySet<string> | undefined;
  let last: Awaited<ReturnType<typeof traced>> | undefined;
  for (let pair = 0; pair < PAIRS; pair++) {
    const [before, after] = [await traced(walk, walk.count), await traced(walk, walk.count + 1)];
    const grown = [...after.calls].filter(([key, { calls }]) => calls > (before.calls.get(key)?.calls ?? 0));
    more = new Set(grown.map(([key]) => key).filter((key) => more === undefined || more.has(key)));
    last = after;
  }
  const { calls, order } = last!;
  const passed = [...new Set([...order, ...more!])].filter((key) => more!.has(key)).map((key) => calls.get(key)!);
  const files = Map.groupBy(passed, ({ file }) => file);
  console.log(`\n${walk.title}: ${files.size} files, ${passed.length} functions\n`);
  for (const [file, functions] of files) {
    console.log(`  ${file}: ${functions.map(({ name }) => name || '(unnamed)').join(', ')}`);
  }
}

try {
  const titles = process.argv.slice(2);
  for (const walk of WALKS) {
    if (titles.length === 0 || titles.some((title) => walk.title.includes(title))) await measure(walk);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
