import { afterAll, describe, expect, it } from 'vitest';
import { answersFrom } from '../../src/holdings/answer.ts';
import type { OwnerFacts } from '../../src/holdings/facts.ts';
import type { Question } from '../../src/holdings/question.ts';
import { holdingFees } from '../../src/holdings/summary-answer.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { importsOfOne } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { type OracleSnapshot, oracle } from '../support/ledger/oracle.ts';
import {
  decisiveRounds,
  ownersOf,
  snapshotAfter,
  snapshotAt,
  stateV0,
  stateV1,
  summaryV0,
  summaryV1,
} from '../support/ledger/oracle-answers.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { shortTime } from '../support/ledger/wire-text.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../support/views/replayed.ts';

const STRANGER = 'nobody::1220ee';
const ledger = [...randomLedger(oddLedger(3, { updates: 300, migrations: 2 }))].flatMap((item) => importsOfOne(item));
const expected = oracle(ledger, { periodMicros: TEN_MINUTES_US });
const folder = temporaryDirectory();
await replayInto(folder.at('data'), [folder.writeLines('feed.ndjson', linesOf(ledger, 'scan'))], SMALL_EPOCHS);
const store = openViewsStore(folder.at('data'));
const answers = answersFrom(store, { emptyOwners: 'zero' });
afterAll(() => {
  store[Symbol.dispose]();
  folder[Symbol.dispose]();
});

/** The answer as it is read from its JSON, or the code of the fault. */
async function ask(question: Question): Promise<unknown> {
  return answers.json(question).then(
    (text) => JSON.parse(text),
    ({ code }) => code,
  );
}

/** As it is read from its JSON, where an int64 is a number. */
function printed(answer: object | null): unknown {
  const bigintAsNumber = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);
  return answer === null ? 'number_too_large' : JSON.parse(JSON.stringify(answer, bigintAsNumber));
}

const at = ({ migrationId, recordTime }: OracleSnapshot) =>
  ({ migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' }) as const;

describe('answers from the facts of a random ledger', () => {
  it.each(expected.snapshots.map((each) => [shortTime(each.recordTime), each] as const))(
    'are those of the oracle at %s',
    async (_, snapshot) => {
      const owners = [...ownersOf(snapshot), STRANGER];
      const query = { ...at(snapshot), owners };
      const v1 = await ask({ answer: 'summary v1', query });
      expect(v1).toEqual(printed(summaryV1(snapshot, owners)));
      const rounds = decisiveRounds(snapshot);
      for (const asOfRound of [expected.lowestOpenRound!, ...rounds.filter((_, i) => i % 7 === 0)]) {
        for (const party of owners) {
          const v0 = await ask({ answer: 'summary v0', query: { ...query, owners: [party], asOfRound } });
          expect(v0).toEqual(printed(summaryV0(snapshot, [party], asOfRound)));
        }
      }
      for (const [name, state] of [['state v0', stateV0] as const, ['state v1', stateV1] as const])
        expect(await pagesOf(name, query)).toEqual(printed(state(snapshot, owners)));
    },
  );

  it('name the snapshots before and after a time', async () => {
    for (const { migrationId, recordTime } of expected.snapshots)
      for (const time of [recordTime - 1, recordTime, recordTime + 1]) {
        const query = { migrationId: BigInt(migrationId), recordTime: BigInt(time) };
        const before = snapshotAt(expected, { migrationId, recordTime: time, match: 'at_or_before' });
        expect(await ask({ answer: 'snapshot before', query })).toEqual(timeOf(before) ?? 'no_snapshot_before');
        const after = snapshotAfter(expected, { migrationId, recordTime: time });
        expect(await ask({ answer: 'snapshot after', query })).toEqual(timeOf(after) ?? 'no_snapshot_after');
      }
    expect(await ask({ answer: 'last migration' })).toEqual({ migration_id: expected.lastMigration });
  });

  it('are faults where there is nothing to answer with', async () => {
    const query = { ...at(expected.snapshots[0]!), owners: [STRANGER], asOfRound: null, pageSize: 1, after: 10n ** 9n };
    const nowhere = { ...query, migrationId: 99n };
    expect(await ask({ answer: 'summary v1', query: nowhere })).toBe('no_snapshot_at');
    expect(await ask({ answer: 'summary v0', query: { ...nowhere, match: 'at_or_before' } })).toBe(
      'no_snapshot_before',
    );
    expect(await ask({ answer: 'state v0', query: nowhere })).toBe('no_snapshot_at');
    expect(await ask({ answer: 'state v1', query })).toBe('unknown_token');
    const omitting = answersFrom(store, { emptyOwners: 'omit' });
    expect(JSON.parse(await omitting.json({ answer: 'summary v1', query })).summaries).toEqual([]);
    const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:11 :'), 'scan');
    await replayInto(folder.at('no-round'), [folder.writeLines('no-round.ndjson', lines)]);
    using quiet = openViewsStore(folder.at('no-round'));
    const newest = { ...query, migrationId: 0n, recordTime: 2n ** 53n, match: 'at_or_before' } as const;
    const asked = answersFrom(quiet, { emptyOwners: 'zero' }).json({ answer: 'summary v0', query: newest });
    await expect(asked).rejects.toMatchObject({ code: 'no_open_round' });
  });

  it('are never fees of which the expired coins were not read', () => {
    const sums = { count: 1, amount: 10n, rate: 1n, rateRound: 5n, expiryBound: 15 };
    const none = { count: 0, amount: 0n, rate: 0n, rateRound: 0n, expiryBound: Infinity };
    const owner: OwnerFacts = { party: STRANGER, unlocked: sums, locked: none, expired: null };
    expect(holdingFees(owner, 14n)).toEqual({ unlocked: 9n, locked: 0n });
    expect(() => holdingFees(owner, 15n)).toThrow('were not read');
  });
});

function timeOf(snapshot: OracleSnapshot | null): { record_time: string } | null {
  return snapshot && { record_time: shortTime(snapshot.recordTime) };
}

async function pagesOf(
  answer: 'state v0' | 'state v1',
  query: ReturnType<typeof at> & { readonly owners: readonly string[] },
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let after: bigint | null = null; ; ) {
    const page = JSON.parse(await answers.json({ answer, query: { ...query, pageSize: 7, after } }));
    items.push(...page.created_events);
    if (page.next_page_token === null) return items;
    after = BigInt(page.next_page_token);
  }
}
