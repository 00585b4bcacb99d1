import { describe, expect, it } from 'vitest';
import { openForReading } from '../../src/views/store/database.ts';
import { verifyViews } from '../../src/views/verify/verify-views.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { type OracleSnapshot, oracle } from '../support/ledger/oracle.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../support/views/replayed.ts';

type Row = Readonly<Record<string, unknown>>;

function rows(dataDir: string, sql: string): Row[] {
  const db = openForReading(dataDir);
  try {
    return db.prepare<[], Row>(sql).all();
  } finally {
    db.close();
  }
}

/** The supply of each instrument of tokens in a snapshot, as `supply` has it. */
function suppliesOf({ tokens }: OracleSnapshot): Record<string, string> {
  const supplies: Record<string, string> = {};
  for (const { admin, instrument } of tokens) {
    const own = tokens.filter((each) => each.admin === admin && each.instrument === instrument);
    const sum = (locked: boolean): bigint =>
      own.filter((each) => each.locked === locked).reduce((total, { amount }) => total + amount, 0n);
    const owners = new Set(own.flatMap(({ owner }) => owner ?? [])).size;
    supplies[`${admin} ${instrument}`] = `${own.length} ${owners} ${sum(false)} ${sum(true)}`;
  }
  return supplies;
}

const SUPPLIES = `SELECT record_time, admin || ' ' || name AS name, contracts || ' ' || owners || ' ' || unlocked || ' ' || locked AS supply
  FROM snapshot s JOIN instrument i USING (migration_id) JOIN migration USING (migration_id)
  JOIN supply v ON v.instrument = i.id AND v.seq = (SELECT max(seq) FROM supply w WHERE w.instrument = i.id AND w.seq <= s.seq)
  WHERE i.id IS NOT coin AND contracts > 0`;

describe.each(Array.from({ length: soakCount(6) }, (_, seed) => seed))('random tokens (%i)', (seed) => {
  it('have the supplies, digests and counts that the oracle computes, and verify finds no difference', async () => {
    using directory = temporaryDirectory();
    const imports = { carriedOver: (seed % 2) * 40, importCreatesMax: 5, synchronizers: 1 + (seed % 3) };
    const items = [
      ...randomLedger(oddLedger(seed + 300, { updates: 300, ...imports, shares: { token: 0.5, repair: 0.1 } })),
    ];
    const format = seed % 3 === 0 ? 'participant' : seed % 3 === 1 ? 'ledger-api' : 'acs-delta';
    const told = oracle(items, { periodMicros: TEN_MINUTES_US, showsViews: () => true });
    const cuts = seed % 2 === 0 ? SMALL_EPOCHS : {};
    const { migrationId } = items[0]!;
    const feed = directory.writeLines('feed.ndjson', linesOf(items, format));
    const { halted, counts } = await replayInto(directory.at('data'), [feed], { migrationId, ...cuts });
    expect(halted).toBeNull();
    const found = rows(
      directory.at('data'),
      'SELECT record_time, lower(hex(digest)) AS digest, lower(hex(tokens_changes_digest)) AS changes, lower(hex(tokens_digest)) AS tokens FROM snapshot ORDER BY record_time',
    );
    expect(found).toEqual(
      told.snapshots.map((each) => ({
        record_time: each.recordTime,
        digest: each.digest,
        changes: each.tokensChangesDigest ?? '',
        tokens: each.tokensDigest ?? '',
      })),
    );
    const supplies = rows(directory.at('data'), SUPPLIES);
    for (const snapshot of told.snapshots) {
      const own = supplies.filter((each) => each.record_time === snapshot.recordTime);
      expect(Object.fromEntries(own.map(({ name, supply }) => [name, supply]))).toEqual(suppliesOf(snapshot));
    }
    const { counterfeits, again, notFollowed, viewDiffers } = told.tokenCounts;
    expect({ viewDiffers: counts.viewDiffers, ...counts.ignored }).toMatchObject({
      viewDiffers,
      ...(counterfeits > 0 && { 'token counterfeit': counterfeits }),
      // Of an import that says nothing new, too.
      ...(again > 0 && imports.carriedOver === 0 && { 'token again': again }),
      ...(notFollowed > 0 && { 'not followed': notFollowed }),
    });
    const ids = rows(
      directory.at('data'),
      `SELECT iif(typeof(contract_id) = 'blob', lower(hex(contract_id)), contract_id) AS id FROM unreadable ORDER BY id`,
    );
    const unreadable = [...told.unreadable.values()].flat().map(({ contractId }) => contractId);
    expect(ids.map(({ id }) => id)).toEqual(unreadable.toSorted());
    const differences: unknown[] = [];
    for (const _ of verifyViews(directory.at('data'), (difference) => differences.push(difference)));
    expect(differences).toEqual([]);
  });
});
