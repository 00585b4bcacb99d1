import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { sendRequest } from '../support/http/send-request.ts';
import { type Service, startService } from '../support/http/service.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { type OracleSnapshot, oracle } from '../support/ledger/oracle.ts';
import { ownersOf, stateV1, summaryV0, summaryV1 } from '../support/ledger/oracle-answers.ts';
import { folded, rankedRows } from '../support/ledger/oracle-tables.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { shortTime } from '../support/ledger/wire-text.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { preloadSmallEpochs } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

const PROCESSES = 3;
const PARTS = 2;
/** Enough connections that none of the processes is left out by chance. */
const QUESTIONS = 40;
const options = { updates: 600, owners: 40, activeTarget: 150, synchronizers: 1, shares: { wideAmount: 0 } };

/** Asks over a connection of its own, which any of the processes may take. */
async function ask(port: number, target: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const agent = new Agent({ keepAlive: false });
  const post = { method: 'POST', body: Buffer.from(JSON.stringify(body) ?? '') };
  const asked = { headers: {}, target, ...(body === undefined ? { method: 'GET', body: null } : post) };
  const { status, text } = await sendRequest(`http://127.0.0.1:${port}`, agent, asked);
  return { status, body: JSON.parse(text) };
}

/** Asks until every answer over that many connections is as wanted. */
async function allAnswer(port: number, target: string, wanted: { status: number; body: unknown }): Promise<void> {
  const all = async (): Promise<unknown[]> => {
    return await Promise.all(Array.from({ length: QUESTIONS }, () => ask(port, target)));
  };
  await expect.poll(all).toEqual(Array(QUESTIONS).fill(wanted));
}

/** The `--owners-max` of each process that answers, by which they are told apart. */
async function whoAnswers(port: number): Promise<string[]> {
  const answers = Array.from({ length: QUESTIONS }, async () => {
    const { body } = await ask(port, '/v1/holdings/summary', {
      migration_id: 0,
      record_time: '2025-01-01T00:00:00Z',
      owner_party_ids: Array(100).fill('a::b'),
    });
    return /at most (\d+)/.exec((body as { error: string }).error)![1]!;
  });
  return [...new Set(await Promise.all(answers))].sort();
}

/** Whether all of the write-ahead log could be put away at once; it is empty then. */
function truncateLog(dataDir: string, timeout = 5_000): boolean {
  const db = new Database(join(dataDir, 'views.db'), { timeout });
  try {
    const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    return busy === 0 && statSync(join(dataDir, 'views.db-wal')).size === 0;
  } finally {
    db.close();
  }
}

async function expectSnapshot(port: number, snapshot: OracleSnapshot, owners: string[]): Promise<void> {
  const record_time = shortTime(snapshot.recordTime);
  const asked = { migration_id: Number(snapshot.migrationId), record_time, owner_party_ids: owners, page_size: 1000 };
  const summaries = Array.from({ length: PROCESSES * 4 }, () => ask(port, '/v1/holdings/summary', asked));
  const summary = { status: 200, body: summaryV1(snapshot, owners) };
  expect(await Promise.all(summaries)).toEqual(Array(PROCESSES * 4).fill(summary));
  const pages = Array.from({ length: PROCESSES * 2 }, () => ask(port, '/v1/holdings/state', asked));
  for (const { body } of await Promise.all(pages))
    expect((body as { created_events: unknown[] }).created_events).toEqual(stateV1(snapshot, owners));
  const place = `migration_id=${snapshot.migrationId}&record_time=${record_time}&limit=1000`;
  const largest = Array.from({ length: PROCESSES * 2 }, () => ask(port, `/holdfast/v1/top?${place}`));
  for (const { body } of await Promise.all(largest))
    expect((body as { owners: unknown[] }).owners).toEqual(rankedRows(folded(snapshot, false), 'total'));
}

async function startReaders(dataDir: string, port: number): Promise<Service[]> {
  const common = ['--data', dataDir, '--read-only', '--reuse-port', '--port', String(port)];
  const each = Array.from({ length: PROCESSES }, (_, i) => startService([...common, '--owners-max', String(i + 1)]));
  return await Promise.all(each);
}

it('three processes answer the same on one port while another writes, and leave its log alone', async () => {
  using directory = temporaryDirectory();
  const [dataDir, pipe] = [directory.at('data'), directory.namedPipe('feed')];
  const items = [...randomLedger(oddLedger(816, options))].filter(({ kind }) => kind === 'update');
  const random = createRandom(816);
  const size = Math.ceil(items.length / PARTS);
  const [port] = (await freePorts(1)) as [number];
  await using writer = await startService(['--data', dataDir, '--file', pipe], { preload: preloadSmallEpochs(50) });
  await using feed = await open(pipe, 'w');
  const readers = await startReaders(dataDir, port);
  await using started = new AsyncDisposableStack();
  for (const reader of readers) started.use(reader);

  const none = { ready: false, reasons: ['no snapshot is sealed yet'], degraded: [] };
  await allAnswer(port, '/readyz', { status: 503, body: none });
  for (let part = 1; part <= PARTS; part++) {
    const lines = linesOf(items.slice((part - 1) * size, part * size), 'scan');
    await feed.write(`${lines.join('\n')}\n`);
    const { snapshots } = oracle(items.slice(0, part * size), { periodMicros: TEN_MINUTES_US });
    const newest = snapshots.at(-1)!;
    const record_time = shortTime(newest.recordTime);
    const target = `/v0/state/acs/snapshot-timestamp?before=2100-01-01T00:00:00Z&migration_id=${newest.migrationId}`;
    await allAnswer(port, target, { status: 200, body: { record_time } });
    const parties = ownersOf(newest);
    for (const snapshot of [newest, random.pick(snapshots)])
      await expectSnapshot(port, snapshot, [...new Set([random.pick(parties), random.pick(parties)])].slice(0, 1));
    // The writer may have more to commit, which nothing asked for here shows.
    const isEmptied = async (): Promise<boolean> => {
      const meanwhile = whoAnswers(port);
      await ask(port, '/livez');
      const isEmpty = truncateLog(dataDir);
      await meanwhile;
      return isEmpty;
    };
    await expect.poll(isEmptied, { message: `the log after part ${part}` }).toBe(true);
  }
  await allAnswer(port, '/readyz', { status: 200, body: { ready: true, reasons: [], degraded: [] } });
  expect(await whoAnswers(port)).toEqual(['1', '2', '3']);

  writer.program.kill('SIGTERM');
  expect(await writer.program.ended).toMatchObject({ code: 0 });
  for (const [i, { program }] of readers.entries()) {
    expect(await whoAnswers(port)).toEqual(['1', '2', '3'].slice(i));
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
  }
});

it('a log that is being read could not have been emptied', async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.at('data');
  const lines = linesOf([...randomLedger(oddLedger(1, { ...options, updates: 100 }))], 'scan');
  await replayInto(dataDir, [directory.writeLines('feed', lines)]);
  const writer = new Database(join(dataDir, 'views.db'));
  writer.exec('CREATE TABLE written (a ANY) STRICT; DROP TABLE written');
  const reader = new Database(join(dataDir, 'views.db'), { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM setting');
  expect(truncateLog(dataDir, 100)).toBe(false);
  reader.close();
  expect(truncateLog(dataDir)).toBe(true);
  writer.close();
});

const ASKERS = 4;
const ROUND = 19_900n;
const FAR = '2100-01-01T00:00:00Z';

/** Asks until the service has read its feed to the end; adds the times of the snapshots whose answers were compared. */
async function askUntilReady(
  service: Service,
  snapshots: readonly OracleSnapshot[],
  { random, compared }: { readonly random: Random; readonly compared: Set<string> },
): Promise<void> {
  const byTime = new Map(snapshots.map((snapshot) => [shortTime(snapshot.recordTime), snapshot]));
  const parties = ownersOf(snapshots.at(-1)!);
  const [{ migrationId }] = snapshots as [OracleSnapshot];
  for (;;) {
    const ready = (await service.ask('/readyz')).status === 200;
    const newest = await service.ask(`/v0/state/acs/snapshot-timestamp?before=${FAR}&migration_id=${migrationId}`);
    if (newest.status === 404) continue;
    expect(newest.status).toBe(200);
    const { record_time } = newest.body as { record_time: string };
    const snapshot = byTime.get(record_time);
    expect(snapshot, record_time).toBeDefined();
    const owner_party_ids = [random.pick(parties), random.pick(parties), random.pick(parties)];
    const asked = { migration_id: migrationId, record_time, owner_party_ids, as_of_round: Number(ROUND) };
    const v1 = await service.ask('/v1/holdings/summary', asked);
    expect(v1).toEqual({ status: 200, body: summaryV1(snapshot!, owner_party_ids) });
    const v0 = await service.ask('/v0/holdings/summary', asked);
    const wanted = summaryV0(snapshot!, owner_party_ids, ROUND);
    expect(v0).toEqual({ status: 200, body: { ...wanted, computed_as_of_round: Number(ROUND) } });
    expect(await stateOf(service, { ...asked, page_size: 1 + random.below(5) })).toEqual(
      stateV1(snapshot!, owner_party_ids),
    );
    compared.add(record_time);
    if (ready) return;
  }
}

async function stateOf(service: Service, asked: Readonly<Record<string, unknown>>): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let after: number | null = null; ; ) {
    const { status, body } = await service.ask('/v1/holdings/state', { ...asked, after });
    expect(status).toBe(200);
    const page = body as { created_events: unknown[]; next_page_token: number | null };
    items.push(...page.created_events);
    if (page.next_page_token === null) return items;
    after = page.next_page_token;
  }
}

it('answers all the while it replays, and every answer is of one sealed snapshot', async () => {
  using directory = temporaryDirectory();
  const items = [...randomLedger(oddLedger(815, options))].filter(({ kind }) => kind === 'update');
  const { snapshots } = oracle(items, { periodMicros: TEN_MINUTES_US });
  const lines = linesOf(items, 'scan');
  const size = Math.ceil(lines.length / PARTS);
  const pipe = directory.namedPipe('feed');
  await using service = await startService(['--data', directory.at('data'), '--file', pipe]);
  await using feed = await open(pipe, 'w');
  const compared = Array.from({ length: ASKERS }, () => new Set<string>());
  const asked = Promise.all(
    compared.map((times, i) => askUntilReady(service, snapshots, { random: createRandom(i), compared: times })),
  );
  // One that fails must not be waited for.
  let hasEnded = false;
  const ended = (): void => {
    hasEnded = true;
  };
  asked.then(ended, ended);
  for (let part = 0; part < PARTS; part++) {
    await feed.write(`${lines.slice(part * size, (part + 1) * size).join('\n')}\n`);
    // However slow the machine is, everybody asks between the commits of two parts.
    const before = compared.map(({ size }) => size);
    if (part < PARTS - 1)
      await expect.poll(() => hasEnded || compared.every(({ size }, i) => size > before[i]!)).toBe(true);
  }
  await feed.close();
  await asked;
  for (const times of compared) expect(times.size).toBeGreaterThanOrEqual(PARTS - 1);
  const { body } = await service.ask(
    `/v0/state/acs/snapshot-timestamp?before=${FAR}&migration_id=${snapshots[0]!.migrationId}`,
  );
  expect(body).toEqual({ record_time: shortTime(snapshots.at(-1)!.recordTime) });
});
