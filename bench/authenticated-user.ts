import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { median } from './median.ts';
import { type Load, loadWith, startServer } from './processes.ts';
import { type Promised, printTable, rounded } from './table.ts';

const SECONDS = 4;
const BARE = 'bare route that answers as much JSON';
const RECORD = 'authenticated-user, HS256, a verified token';
const VERSION = 'version, no token';

/** Asks for the own record with a token that was verified before, beside a bare route that answers as much. */
export async function benchAuthenticatedUser(folder: string, { rounds }: { rounds: number }): Promise<Promised[]> {
  const dataDir = join(folder, 'users');
  const mint = ['dist/main.js', 'token', '--data', dataDir, '--user', 'participant_admin'];
  const authorization = `Bearer ${execFileSync(process.execPath, mint, { encoding: 'utf8' }).trim()}`;
  await using holdfast = await startServer(['dist/main.js', 'serve', '--data', dataDir, '--port', '0']);
  const record = `${holdfast.url}/v2/authenticated-user`;
  const answer = await (await fetch(record, { headers: { authorization } })).text();
  await using bare = await startServer(['bench/bare-server.ts', answer]);

  const request = ['--headers', `authorization=${authorization}`];
  const runs = [
    { name: BARE, url: `${bare.url}/answer` },
    { name: RECORD, url: record },
    { name: VERSION, url: `${holdfast.url}/v2/version` },
  ];
  const loads = new Map<string, Load[]>(runs.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, url } of runs) {
      console.error(`authenticated-user, round ${round} of ${rounds}: ${name}`);
      loads.get(name)!.push(loadWith(url, request, SECONDS));
    }
  }
  const rate = (name: string): number => median(loads.get(name)!.map(({ requestsPerSecond }) => requestsPerSecond));
  const p99 = (name: string): number => median(loads.get(name)!.map(({ p99Ms }) => p99Ms));
  const rows = runs.map(({ name }) => [
    name,
    rounded(rate(name)),
    rounded(rate(name) / rate(BARE)),
    rounded(p99(name)),
  ]);
  const heading = `The ledger's users, 16 connections, one process (medians of ${rounds} alternating runs of ${SECONDS} s)`;
  printTable(heading, ['', 'requests/s', 'of the bare route', 'p99 ms'], rows);
  return [
    { what: 'authenticated-user, of the bare route', measured: rate(RECORD) / rate(BARE), least: 0.5, unit: 'x' },
  ];
}
