import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Asking, alternateLoads, printLoads, rateTo } from './loads.ts';
import { startServer } from './processes.ts';
import type { Promised } from './table.ts';

const BARE = 'bare route that answers as much JSON';
const RECORD = 'authenticated-user, HS256, a verified token';
const VERSION = 'version, no token';

/** Asks for the own record with a token that was verified before, next to a bare route with as large an answer. */
export async function benchAuthenticatedUser(folder: string, { rounds }: { rounds: number }): Promise<Promised[]> {
  const dataDir = join(folder, 'users');
  const mint = ['dist/main.js', 'token', '--data', dataDir, '--user', 'participant_admin'];
  const authorization = `Bearer ${execFileSync(process.execPath, mint, { encoding: 'utf8' }).trim()}`;
  await using holdfast = await startServer(['dist/main.js', 'serve', '--data', dataDir, '--port', '0']);
  const record = `${holdfast.url}/v2/authenticated-user`;
  const answer = await (await fetch(record, { headers: { authorization } })).text();
  await using bare = await startServer(['bench/bare-server.ts', answer]);

  const all: Asking[] = [
    { name: BARE, url: `${bare.url}/answer`, servers: [bare] },
    { name: RECORD, url: record, request: ['--headers', `authorization=${authorization}`], servers: [holdfast] },
    { name: VERSION, url: `${holdfast.url}/v2/version`, servers: [holdfast] },
  ];
  const loads = alternateLoads('authenticated-user', all, rounds);
  printLoads("The ledger's users, one process", loads, [BARE, RECORD, VERSION]);
  return [
    { what: 'authenticated-user, of the bare route', measured: rateTo(loads, RECORD, BARE), least: 0.5, unit: 'x' },
  ];
}
