import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { median } from './median.ts';
import { ownCpuMs } from './process-cpu.ts';
import type { Server } from './processes.ts';
import { printTable, rounded } from './table.ts';

const SECONDS = 2;
export const CONNECTIONS = 16;

/** One request, sent again and again. */
export interface Asking {
  readonly name: string;
  readonly url: string;
  /** Options of autocannon; `post` gives those of a question. */
  readonly request?: readonly string[];
  /** The processes that may answer. */
  readonly servers: readonly Server[];
  /** 16 unless given. */
  readonly connections?: number;
}

export interface Load {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Of all that may answer, in microseconds of user and system time. Not a number without /proc. */
  readonly cpuUsPerRequest: number;
}

/** The medians of each by name. */
export type Loads = (name: string) => Load;

export function post(body: string): readonly string[] {
  return ['--method', 'POST', '--headers', 'content-type=application/json', '--body', body];
}

/** Asks for some seconds, from a process of its own. */
export function load({ url, request = [], servers, connections = CONNECTIONS }: Omit<Asking, 'name'>): Load {
  const autocannon = join(import.meta.dirname, '..', 'node_modules', '.bin', 'autocannon');
  const fixed = ['--json', '--no-progress', '--connections', String(connections), '--duration', String(SECONDS)];
  const cpuBefore = cpuMs(servers);
  const output = execFileSync(process.execPath, [autocannon, ...fixed, ...request, url], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { requests, latency, non2xx, errors } = JSON.parse(output) as Result;
  if (non2xx > 0 || errors > 0) throw new Error(`${url}: ${non2xx} bad answers, ${errors} errors`);
  const cpuUsPerRequest = ((cpuMs(servers) - cpuBefore) * 1000) / requests.total;
  return { requestsPerSecond: requests.average, p99Ms: latency.p99, cpuUsPerRequest };
}

interface Result {
  readonly requests: { readonly average: number; readonly total: number };
  readonly latency: { readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
}

function cpuMs(servers: readonly Server[]): number {
  return servers.reduce((sum, { pid }) => sum + ownCpuMs(pid), 0);
}

/** Loads each in turn, there and back in each round, so that what others do on the machine affects all alike. */
export function alternateLoads(part: string, all: readonly Asking[], rounds: number): Loads {
  const loads = new Map<string, Load[]>(all.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const asking of [...all, ...all.toReversed()]) {
      console.error(`${part}, round ${round} of ${rounds}: ${asking.name}`);
      loads.get(asking.name)!.push(load(asking));
    }
  }
  return (name) => {
    const of = (figure: keyof Load): number => median(loads.get(name)!.map((each) => each[figure]));
    return {
      requestsPerSecond: of('requestsPerSecond'),
      p99Ms: of('p99Ms'),
      cpuUsPerRequest: of('cpuUsPerRequest'),
    };
  };
}

/** How many times as many requests a second as another gets. */
export function rateTo(loads: Loads, name: string, other: string): number {
  return loads(name).requestsPerSecond / loads(other).requestsPerSecond;
}

/** Prints them, each beside the first. */
export function printLoads(heading: string, loads: Loads, names: readonly string[]): void {
  const rows = names.map((name) => {
    const { requestsPerSecond, p99Ms, cpuUsPerRequest } = loads(name);
    const rate = [rounded(requestsPerSecond), rounded(rateTo(loads, name, names[0]!))];
    return [name, ...rate, rounded(cpuUsPerRequest), rounded(p99Ms)];
  });
  const columns = ['', 'requests/s', 'to the first', 'CPU us/request', 'p99 ms'];
  printTable(
    `${heading} (${CONNECTIONS} connections where nothing else is said; medians of alternating runs of ${SECONDS} s)`,
    columns,
    rows,
  );
}
