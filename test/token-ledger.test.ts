import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HistoryItem, inOrder } from './support/ledger/history.ts';
import { type LedgerOptions, oddLedger } from './support/ledger/options.ts';
import { type Oracle, oracle } from './support/ledger/oracle.ts';
import { instrumentsOf } from './support/ledger/oracle-holdings.ts';
import { folded } from './support/ledger/oracle-tables.ts';
import { parseLedger, partyOf } from './support/ledger/parse-ledger.ts';
import { randomLedger } from './support/ledger/random-ledger.ts';
import { shortTime } from './support/ledger/wire-text.ts';
import { soakCount } from './support/program/soak.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';
import { linesOf, TEN_MINUTES_US } from './support/views/replayed.ts';

const ALL = { periodMicros: TEN_MINUTES_US, showsViews: () => true };

const told = (text: string, changes = {}): Oracle => oracle(parseLedger(text), { ...ALL, ...changes });

/** What each snapshot has of USDC of the registry: `00:10 alice 5+0 bob 1+2 | all 6+2 of 3`. */
function usdc({ snapshots }: Oracle): string[] {
  const instrument = { admin: partyOf('registry'), instrument: 'USDC' };
  return snapshots.map((snapshot) => {
    const { owners, supply } = folded(snapshot, false, instrument);
    const amount = (units: bigint): bigint => units / 10_000_000_000n;
    const listed = [...owners].map(([party, { unlocked, locked }]) => {
      return `${party.split('::')[0]} ${amount(unlocked)}+${amount(locked)}`;
    });
    const all = `all ${amount(supply.unlocked)}+${amount(supply.locked)} of ${supply.contracts}`;
    return [shortTime(snapshot.recordTime).slice(11, 16), ...listed.sort(), '|', all].join(' ');
  });
}

describe('the oracle', () => {
  it('adds up the tokens of an instrument, and counts holdings without owner in the supply alone', () => {
    const text = `00:01 : +t alice 5 USDC@registry ; +u bob 1 USDC@registry v1 ; +x bob 7 USDC@other
      00:02 : +v bob 2 USDC@registry until 00:03 ; +n none 3 USDC@registry v1 ; +a alice 100
      00:11 : -t ; -n ; -x
      00:21 :`;
    expect(usdc(told(text))).toEqual(['00:10 alice 5+0 bob 1+2 | all 9+2 of 4', '00:20 bob 1+2 | all 1+2 of 2']);
    expect(usdc(oracle(parseLedger(text), { periodMicros: TEN_MINUTES_US }))[0]).toBe('00:10 | all 0+0 of 0');
  });

  it('keeps out what is forged, names the coin, cannot be read, or is not followed', () => {
    const text = `00:01 : +r round 1
      00:02 : +f alice 5 USDC@registry forged ; +c alice 5 Amulet@DSO ; +u alice 5 USDC@registry failed
      00:03 : +m alice 5 USDC@registry saying -1.0 ; +o carol 5 USDC@registry ; +k carol 9 ; +b bob 0 USDC@registry
      00:04 : +f alice 5 USDC@registry ; +u alice 6 USDC@registry v1 ; +b bob 8 USDC@registry
      00:11 : -f ; -c ; -m
      00:12 : +f alice 1 USDC@registry
      00:21 :`;
    const { unreadable, tokenCounts, snapshots, ...others } = told(text, {
      followed: new Set(['alice', 'bob'].map(partyOf)),
    });
    expect(usdc({ snapshots, unreadable, tokenCounts, ...others })).toEqual([
      '00:10 alice 6+0 bob 0+0 | all 6+0 of 2',
      '00:20 alice 7+0 bob 0+0 | all 7+0 of 3',
    ]);
    expect(snapshots.map(({ coins }) => coins.length)).toEqual([0, 0]);
    expect(tokenCounts).toEqual({ counterfeits: 2, again: 2, notFollowed: 1, viewDiffers: 0 });
    expect(unreadable.get(0)).toEqual([]);
    const before = told(text.split('\n').slice(0, 4).join('\n'));
    expect(before.unreadable.get(0)!.map(({ contractId }) => contractId)).toEqual(['006d']);
  });

  it('begins the chain of tokens with their first line', () => {
    const text = `00:01 : +a alice 1
      00:02 : +t alice 5 USDC@registry ; -t ; +f alice 1 USDC@registry forged
      00:11 : +u alice 5 USDC@registry
      00:31 :`;
    const { snapshots } = told(text);
    const begun = snapshots.map(({ tokensDigest }) => tokensDigest !== null);
    expect(begun).toEqual([false, true, true]);
    const without = oracle(parseLedger(text), { periodMicros: TEN_MINUTES_US }).snapshots;
    expect(without.map(({ digest }) => digest)).toEqual(snapshots.map(({ digest }) => digest));
    expect(without.every(({ tokensDigest, tokensChangesDigest }) => !tokensDigest && !tokensChangesDigest)).toBe(true);
  });
});

/** Random ledgers in format B, some with what a migration carried over. */
function tokenLedger(seed: number, changes: Partial<LedgerOptions> = {}): HistoryItem[] {
  const imports = { carriedOver: (seed % 2) * 40, importCreatesMax: 5, synchronizers: 1 + (seed % 3) };
  const shares = { token: 0.5, repair: 0.1 };
  return [...randomLedger(oddLedger(seed, { updates: 300, ...imports, shares, ...changes }))];
}

describe('a random ledger of tokens', () => {
  it('has everything that may happen', () => {
    const items = tokenLedger(1, { updates: 1_500 });
    const { snapshots, tokenCounts, unreadable, counts } = oracle(items, ALL);
    const tokens = snapshots.flatMap((snapshot) => snapshot.tokens);
    expect(new Set(tokens.map(({ admin }) => admin)).size).toBe(3);
    expect(instrumentsOf(snapshots).map(({ instrument }) => instrument)).toContain('');
    expect(Object.entries(tokenCounts).filter(([, count]) => count <= 5)).toEqual([['notFollowed', 0]]);
    const reasons = new Set([...unreadable.values()].flat().map(({ views }) => JSON.stringify(views).slice(-200)));
    expect(reasons.size).toBeGreaterThan(2);
    expect(tokens.some(({ amount }) => amount === 0n)).toBe(true);
    expect(tokens.some(({ amount }) => amount === 10n ** 38n - 1n)).toBe(true);
    expect(tokens.some(({ owner }) => owner === null)).toBe(true);
    expect(tokens.some(({ provider, accountId }) => provider !== null && accountId !== '')).toBe(true);
    expect(tokens.some(({ locked, expiresAt }) => locked && expiresAt === null)).toBe(true);
    const entities = new Set(tokens.map(({ contract }) => contract.templateId.replace(/^[^:]*:/, '')));
    expect(entities).toContain('Splice.Amulet:Amulet');
    const updates = items.filter((item) => item.kind === 'update');
    for (const wrapping of ['import', 'assignment', 'unassignment']) {
      const events = updates.filter((each) => each.wrapping === wrapping).flatMap((each) => [...inOrder(each.events)]);
      expect(
        events.some(({ contract }) => contract.packageName === 'dummy-holding'),
        wrapping,
      ).toBe(true);
    }
    expect(counts.importsLate).toBeGreaterThan(0);
  });

  it.each(Array.from({ length: soakCount(4) }, (_, seed) => seed))(
    'has the digests that scripts/digest.py computes (%i)',
    (seed) => {
      const items = tokenLedger(seed);
      const migrationId = items[0]!.migrationId;
      const { snapshots } = oracle(items, ALL);
      const followed = seed % 2 === 0 ? [...new Set(snapshots.flatMap(ownersIn))].filter((_, i) => i % 2 === 0) : null;
      const expected = oracle(items, { ...ALL, ...(followed && { followed: new Set(followed) }) });
      using directory = temporaryDirectory();
      const feed = directory.writeLines('feed.ndjson', linesOf(items, seed % 2 === 0 ? 'ledger-api' : 'acs-delta'));
      const script = join(import.meta.dirname, '../scripts/digest.py');
      const args = [
        '--tokens',
        '--migration-id',
        String(migrationId),
        ...(followed ?? []).flatMap((p) => ['--follow', p]),
      ];
      const { stdout, stderr } = spawnSync('python3', [script, ...args, feed], { encoding: 'utf8' });
      expect(stderr).toBe('');
      const lines = expected.snapshots.map((each) =>
        [
          ...[each.migrationId, shortTime(each.recordTime), each.changesDigest, each.digest],
          ...[each.tokensChangesDigest ?? '-', each.tokensDigest ?? '-'],
        ].join(' '),
      );
      expect(lines.length).toBeGreaterThan(20);
      expect(stdout.trimEnd().split('\n')).toEqual(lines);
    },
  );
});

function ownersIn({ tokens }: Oracle['snapshots'][number]): string[] {
  return tokens.flatMap(({ owner }) => owner ?? []);
}
