import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServer } from '../bench/processes.ts';
import { printTable, rounded } from '../bench/table.ts';
import type { AttackersSettings } from './soak/attackers.ts';
import type { FeedReport, FeedSettings } from './soak/feeder.ts';
import { EVENTS_TO_GROW, STORY, storyUpdates } from './soak/ledger.ts';
import { startPart } from './soak/part.ts';
import { createSoakProgress } from './soak/progress.ts';
import type { ReadersReport, ReadersSettings } from './soak/readers.ts';
import { runCommand, type ServiceStatus, type SoakedService, startSoaked } from './soak/service.ts';
import type { TallyReport } from './soak/tally.ts';
import { isGrown, judge, MEMORY_MINUTES_MIN, type Verdict, type Window } from './soak/verdict.ts';
import type { WatchersSettings } from './soak/watchers.ts';

/**
 * Runs the service for long under a feed without end, reads and bad requests at once, and says whether it is at the end what
 * it was at the beginning. By option or environment: `npm run soak:serve -- --minutes 3 --windows windows.ndjson`.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: process.env.HOLDFAST_SOAK_MINUTES ?? '60' },
    'events-per-second': { type: 'string', default: process.env.HOLDFAST_SOAK_EVENTS_PER_SECOND ?? '4000' },
    /** Events before anything is measured; fewer only to try the soak itself. */
    grow: { type: 'string', default: String(EVENTS_TO_GROW) },
    /** What was measured, a line of JSON each window. */
    windows: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = positive('minutes', values.minutes);
const eventsPerSecond = positive('events-per-second', values['events-per-second']);
const eventsToGrow = positive('grow', values.grow);
const seed = positive('seed', values.seed);
const windowsFile = values.windows === undefined ? null : resolve(values.windows);

/** Long enough for a p99, and a few dozen of them in a short soak too. */
const WINDOW_MS = Math.min(20_000, Math.max(3_000, (minutes * 60_000) / 36));
const APPLIED_MS_MAX = 120_000;
const POLL_MS = 100;
/** The tables of bad requests are for this. */
const OF_BAD_REQUESTS = ['--body-bytes-max', '20000'];

function positive(name: string, given: string): number {
  const value = Number(given);
  if (value > 0) return value;
  console.error(`--${name}: given "${given}", expected a number above 0`);
  process.exit(2);
}

interface Soaked {
  readonly windows: readonly Window[];
  /** What was found wrong at the end. */
  readonly failures: readonly string[];
}

async function soak(folder: string, interrupted: Promise<never>): Promise<Soaked> {
  const [data, feed] = [join(folder, 'data'), join(folder, 'feed')];
  execFileSync('mkfifo', [feed]);
  const args = ['--data', data, '--on-bad-update', 'quarantine', ...OF_BAD_REQUESTS];
  await using service = await startSoaked([...args, '--file', STORY, feed], join(folder, 'log'));
  const { url } = service;
  const given = ['--user', 'participant_admin', '--expires-in', '30d', '--data', data];
  const token = runCommand(['token', ...given]).stdout.trim();
  const feedSettings: FeedSettings = { seed, path: feed, eventsAtOnce: eventsToGrow, eventsPerSecond };
  await using feeder = startPart<FeedReport>('feeder', feedSettings);
  await using bare = await startServer(['bench/bare-server.ts', '{}']);
  const readersSettings: ReadersSettings = { seed, url, bareUrl: bare.url };
  await using readers = startPart<ReadersReport>('readers', readersSettings);
  await using attackers = startPart<TallyReport>('attackers', { seed, url, token } satisfies AttackersSettings);
  await using watchers = startPart<TallyReport>('watchers', { seed, url } satisfies WatchersSettings);

  const ended = Promise.race([service.failed, interrupted]);
  ended.catch(() => {});
  const { counts: grown } = await grownStatus(service, ended);
  await Promise.all([readers, attackers, watchers].map((part) => part.report()));
  const windows: Window[] = [];
  const began = performance.now();
  let before = { ms: began, events: grown.events };
  const look = async (): Promise<Window> => {
    const [read, attacked, watched] = [await readers.report(), await attackers.report(), await watchers.report()];
    const { events } = await feeder.report();
    const { counts } = await service.status();
    const now = { ms: performance.now(), events: counts.events };
    const applied = now.events - before.events;
    const window = {
      minutes: (now.ms - began) / 60_000,
      residentMiB: service.residentMiB(),
      eventsFed: events,
      eventsApplied: applied,
      eventsPerSecond: (applied * 1000) / (now.ms - before.ms),
      viewsMiB: statSync(join(data, 'views.db')).size / 2 ** 20,
      latencies: { ...read.latencies, ...attacked.latencies, ...watched.latencies },
      compared: read.compared,
      statuses: added(read.statuses, attacked.statuses, watched.statuses),
      badRequests: sum(attacked.statuses),
      faults: [...read.faults, ...attacked.faults, ...watched.faults],
      faultCount: read.faultCount + attacked.faultCount + watched.faultCount,
    };
    before = now;
    windows.push(window);
    if (windowsFile !== null) appendFileSync(windowsFile, `${JSON.stringify(window)}\n`);
    for (const fault of window.faults) console.error(`\nwrong: ${fault}`);
    return window;
  };

  using progress = createSoakProgress(minutes, process.stderr);
  for (let at = 1; at * WINDOW_MS <= minutes * 60_000; at++) {
    await Promise.race([sleep(Math.max(0, began + at * WINDOW_MS - performance.now())), ended]);
    progress.update(await look());
  }
  const fed = await feeder.finish();
  const attacked = await attackers.finish();
  const watched = await watchers.finish();
  const status = await appliedStatus(service);
  const again = await readers.finish();
  console.error('the feed has ended; stopping the service and verifying the directory');
  const stopped = await service.stop();
  const verified = runCommand(['verify', '--data', data]).code;
  return {
    windows,
    failures: [
      ...[...attacked.faults, ...watched.faults, ...again.faults].map((fault) => `at the end: ${fault}`),
      ...notApplied(fed, status),
      ...service.errors().map((line) => `an error in the log: ${line}`),
      ...(stopped === 0 ? [] : [`after SIGTERM the service ended with ${stopped} instead of 0`]),
      ...(verified === 0 ? [] : [`holdfast verify ended with ${verified} instead of 0`]),
    ],
  };
}

/** The status once the ledger is as large as it stays: what is measured before is the growing of caches. */
async function grownStatus(service: SoakedService, ended: Promise<never>): Promise<ServiceStatus> {
  console.error(`replaying the first ${eventsToGrow} events`);
  for (;;) {
    const status = await service.status();
    if (status.counts.events >= eventsToGrow) return status;
    await Promise.race([sleep(POLL_MS), ended]);
  }
}

/** The status once everything is applied. */
async function appliedStatus(service: SoakedService): Promise<ServiceStatus> {
  const until = performance.now() + APPLIED_MS_MAX;
  for (;;) {
    const status = await service.status();
    if (status.phase === 'caught_up' || performance.now() > until) return status;
    await Promise.race([sleep(POLL_MS), service.failed]);
  }
}

/** Everything that was fed was applied, quarantined or known as such, and nothing else was. */
function notApplied(fed: FeedReport, { phase, counts, dead_letters }: ServiceStatus): string[] {
  const expected = [
    ['phase', 'caught_up', phase],
    ['updates applied', storyUpdates() + fed.updates, counts.updates],
    ['updates quarantined', fed.bad, dead_letters.quarantined ?? 0],
    ['bad updates known by their bytes', fed.badAgain, counts.decided],
  ] as const;
  return expected
    .filter(([, wanted, found]) => wanted !== found)
    .map(([what, wanted, found]) => `${what}: expected ${wanted}, found ${found}`);
}

function added(...all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  }
  return total;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function printVerdict({ windows }: Soaked, { figures }: Verdict): void {
  const statuses = added(...windows.map((window) => window.statuses));
  const requests = Object.entries(statuses).map(([status, count]) => [status, String(count)]);
  printTable('Requests by status', ['status', 'requests'], requests);
  const last = windows.at(-1)!;
  const most = Math.max(...windows.map(({ residentMiB }) => residentMiB));
  const compared = windows.reduce((total, window) => total + window.compared, 0);
  console.log(
    `\n${last.eventsFed} events in ${rounded(last.minutes)} minutes, views.db ${rounded(last.viewsMiB)} MiB, at most ` +
      `${rounded(most)} MiB resident, ${compared} answers of sealed snapshots asked again`,
  );
  const rows = figures.map((figure) => [
    figure.what,
    rounded(figure.early),
    rounded(figure.late),
    figure.growth.toFixed(2),
    figure.growthMax === null ? '-' : `<= ${figure.growthMax.toFixed(2)}`,
    figure.growthMax === null ? '' : isGrown(figure) ? 'GROWN' : 'flat',
  ]);
  const columns = ['medians of windows', 'early', 'late', 'late / early', 'bound', ''];
  printTable('Early (from 1/12 to 1/4 of the time) and late (the last quarter)', columns, rows);
}

/** Ctrl-C reaches the parts too; what is left to do is to end the service and to clean up. */
function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)));
  });
  interrupted.catch(() => {});
  return interrupted;
}

/** What failed, in the words that are printed. */
async function soakIn(folder: string): Promise<readonly string[]> {
  try {
    const soaked = await soak(folder, interruption());
    const verdict = judge(soaked.windows);
    printVerdict(soaked, verdict);
    if (!verdict.judgesMemory)
      console.log(`\nNOT JUDGED: memory, for that takes ${MEMORY_MINUTES_MIN} minutes at least`);
    return [...verdict.failures, ...soaked.failures];
  } catch (error) {
    return [`the soak did not come to its end: ${(error as Error).message}`];
  }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-soak-'));
if (windowsFile !== null) writeFileSync(windowsFile, '');
const failures = await soakIn(folder);
for (const failure of failures) console.log(`FAILED: ${failure}`);
if (failures.length === 0) rmSync(folder, { recursive: true });
else console.log(`The directory and the log are kept in ${folder}`);
console.log(failures.length === 0 ? '\nThe soak passed.' : '\nThe soak failed.');
process.exitCode = failures.length === 0 ? 0 : 1;
