import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { counted } from '../counted.ts';
import { isObject } from '../json/untrusted.ts';
import { Refusal } from '../refusal.ts';
import { askHoldfast } from '../service/compare-digests.ts';
import { createReadOnlyHealth } from '../service/health.ts';
import { durationMs, parseAs } from '../setting-kinds.ts';
import { readVersion } from '../version.ts';
import { commandOn } from '../views/dead-letter-advice.ts';
import { openStoredStatus } from '../views/read/stored-status.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { addressOf, apiKeyOf, type CliCommand, EXIT, type ExitCode, type Invocation } from './command.ts';
import { type Fact, formatFacts, safeJson } from './terminal.ts';

const ANSWER_MS_MAX = 10_000;
const WAIT = durationMs('1s', '7d')('');
export const WATCH_MS = 2_000;
/** Between the two readings from which the rate comes. */
const RATE_MS = 1_000;
export const CLEAR_SCREEN = '\u001b[H\u001b[J';

const READINESS = z.object({ ready: z.boolean(), reasons: z.array(z.string()), degraded: z.array(z.string()) });
/** What is used of `/status`; a service of another version may say more. */
const STATUS = z.object({
  version: z.string(),
  phase: z.string(),
  source: z.looseObject({ name: z.string() }).nullable(),
  snapshots: z.array(z.object({ migration_id: z.number(), record_time: z.string() })),
  counts: z.looseObject({ updates: z.number() }).optional(),
  /** A store in PostgreSQL has none. */
  dead_letters: z.record(z.string(), z.number()).default({}),
});

export interface Reading {
  readonly readiness: z.infer<typeof READINESS>;
  readonly status: z.infer<typeof STATUS>;
  readonly atMs: number;
}

export const statusCommand: CliCommand = {
  usage: 'status',
  summary: 'What a service (--url) or a data directory is doing, and what to do next',
  examples: [
    'holdfast status --data ./data',
    'holdfast status --url http://127.0.0.1:8080 --watch',
    'holdfast status --url http://127.0.0.1:8080 --wait 5m',
  ],
  addOptions: (command) =>
    command
      .option('--url <URL>', 'of a running service, instead of --data')
      .option('--watch', 'again every 2 s, until it is stopped')
      .option('--check', 'exit with 3 where it is not ready')
      .option('--wait <D>', 'until it is ready, at most so long; then as --check')
      .option('--json', 'print JSON for programs: the answers of /readyz and /status'),
  run: async (invocation) => {
    const { options, config, terminal } = invocation;
    if (options.json === true && options.watch === true)
      throw new Refusal('--json: given with --watch, expected one of them');
    const name = String(options.url ?? config.dataDir);
    const read = () => readStatus(invocation);
    const isWatched = options.watch === true;
    if (isWatched && (options.check === true || options.wait !== undefined))
      throw new Refusal('--watch: given with --check or --wait, expected one of them');
    const signal = terminal.stopSignal();
    const waitMs = options.wait === undefined ? 0 : parseAs('--wait', WAIT, options.wait);
    const isService = options.url !== undefined;
    if (waitMs > 0) await untilReady(read, { endMs: performance.now() + waitMs, signal, isService });
    const exitCode = ({ readiness }: Reading): ExitCode =>
      !readiness.ready && (options.check === true || options.wait !== undefined) ? EXIT.notReady : EXIT.ok;
    for (let before: Reading | null = null; ; ) {
      const now = await read();
      if (options.json === true) {
        terminal.stdout.write(safeJson({ readiness: now.readiness, status: now.status }));
        return exitCode(now);
      }
      if (isWatched || before !== null || now.status.counts === undefined) {
        const isRedrawn = isWatched && terminal.stdout.isTTY === true;
        terminal.stdout.write(`${isRedrawn ? CLEAR_SCREEN : ''}${statusText(name, now, before)}`);
        if (!isWatched) return exitCode(now);
      }
      before = now;
      await sleep(isWatched ? WATCH_MS : RATE_MS, null, { signal }).catch(() => {});
      if (signal.aborted) return exitCode(now);
    }
  },
};

/** What `--url` or else the data directory says of itself. */
export function readStatus({ options: { url }, config, terminal }: Invocation): Promise<Reading> {
  if (url === undefined) return readDirectory(config.dataDir);
  return readService(addressOf('--url', String(url)), apiKeyOf(terminal));
}

/** Asks again until it is ready or the time is over; a service that does not answer yet is not ready. Throws where a key is missing. */
async function untilReady(
  read: () => Promise<Reading>,
  { endMs, signal, isService }: { readonly endMs: number; readonly signal: AbortSignal; readonly isService: boolean },
): Promise<void> {
  while (!signal.aborted) {
    const ready = await read().then(
      ({ readiness }) => readiness.ready,
      (error: unknown) => {
        if (isService && error instanceof Refusal) throw error;
        return false;
      },
    );
    const leftMs = endMs - performance.now();
    if (ready || leftMs <= 0) return;
    await sleep(Math.min(RATE_MS, leftMs), null, { signal }).catch(() => {});
  }
}

async function readService({ href }: URL, key: string | null): Promise<Reading> {
  const ask = async <Answer>(path: string, schema: z.ZodType<Answer>): Promise<Answer> => {
    const asked = new URL(href.replace(/\/*$/, path));
    const { answer } = await askHoldfast(asked, { stop: AbortSignal.timeout(ANSWER_MS_MAX), key });
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new Error(`${asked}: no answer of a Holdfast of this version`);
  };
  return { readiness: await ask('/readyz', READINESS), status: await ask('/status', STATUS), atMs: performance.now() };
}

/** Of a directory what views.db stores is known: not whether a process reads a source for it. */
async function readDirectory(dataDir: string): Promise<Reading> {
  using store = openViewsStore(dataDir);
  using standing = openStoredStatus(dataDir);
  const health = createReadOnlyHealth(readVersion(), store, standing.read, commandOn(dataDir));
  const status = STATUS.parse({ ...(await health.status()), phase: 'stored' });
  return { readiness: READINESS.parse(await health.ready()), status, atMs: performance.now() };
}

function statusText(name: string, now: Reading, before: Reading | null): string {
  const { readiness, status } = now;
  const { version, source, snapshots, counts, dead_letters } = status;
  return formatFacts([
    ['holdfast', `${version}, ${name}`],
    ['ready', readiness.ready ? 'yes' : 'no'],
    ...readiness.reasons.map((reason): Fact => ['', reason]),
    ...readiness.degraded.map((what): Fact => ['degraded', what]),
    ['phase', phaseOf(now)],
    ...(source === null ? [] : sourceFacts(source)),
    ['updates', counts === undefined ? null : `${counts.updates} since the start${rateText(now, before)}`],
    ...snapshots.map(
      (each): Fact => ['newest snapshot', `${withAge(each.record_time)}, migration ${each.migration_id}`],
    ),
    ...Object.entries(dead_letters).map(([decision, count]): Fact => ['dead letters', `${count} ${decision}`]),
  ]);
}

export function phaseOf({ readiness, status: { phase } }: Reading): string {
  return phase === 'reading' && readiness.ready ? 'caught_up' : phase;
}

/** What the names of fields do not say well. */
const LABELS: Readonly<Record<string, string>> = {
  errors_in_a_row: 'consecutive errors',
  seconds_left: 'catch-up seconds',
};

/** Each kind of source says different things; single values are shown as they are. */
function sourceFacts({ name, ...details }: NonNullable<Reading['status']['source']>): Fact[] {
  const figures = Object.entries(details).flatMap(([key, value]) =>
    isObject(value) ? Object.entries(value) : [[key, value] as const],
  );
  const single = figures.filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  return [
    ['source', name],
    ...single.map(([key, value]): Fact => [`  ${LABELS[key] ?? key.replaceAll('_', ' ')}`, withAge(String(value))]),
  ];
}

const AGE_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A text that is a time, and how long ago that was by the clock of this machine; any other text as it is. */
export function withAge(text: string, nowMs = Date.now()): string {
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return text;
  const seconds = Math.floor((nowMs - time) / 1000);
  const [unit, size] = AGE_UNITS.find(([, each]) => Math.abs(seconds) >= 2 * each) ?? AGE_UNITS[3];
  const age = counted(Math.floor(Math.abs(seconds) / size), unit);
  return `${text} (${seconds < 0 ? `in ${age}` : `${age} ago`})`;
}

function rateText(now: Reading, before: Reading | null): string {
  const [to, from] = [now.status.counts?.updates, before?.status.counts?.updates];
  if (to === undefined || from === undefined || before === null) return '';
  // A service that was started again counts from 0.
  const rate = Math.max(0, to - from) / ((now.atMs - before.atMs) / 1000);
  return `, ${Math.round(rate)} a second`;
}
