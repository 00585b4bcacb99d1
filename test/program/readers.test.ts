import { open } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type Service, startService } from '../support/http/service.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { type OracleSnapshot, oracle } from '../support/ledger/oracle.ts';
import { ownersOf, stateV1, summaryV0, summaryV1 } from '../support/ledger/oracle-answers.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { shortTime } from '../support/ledger/wire-text.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, TEN_MINUTES_US } from '../support/views/replayed.ts';

const ASKERS = 4;
const PARTS = 5;
const ROUND = 19_900n;
const FAR = '2100-01-01T00:00:00Z';
const options = { updates: 1_200, owners: 60, activeTarget: 300, synchronizers: 1, shares: { wideAmount: 0 } };

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
