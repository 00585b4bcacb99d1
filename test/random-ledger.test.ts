import { describe, expect, it } from 'vitest';
import { importsOfOne, inOrder } from './support/ledger/history.ts';
import { oddLedger, realLedger } from './support/ledger/options.ts';
import { oracle } from './support/ledger/oracle.ts';
import { coinOf, decisiveRounds, ownersOf, stateV0, supplyOf, totalsOf } from './support/ledger/oracle-answers.ts';
import { randomLedger } from './support/ledger/random-ledger.ts';
import { scanLine } from './support/ledger/scan-lines.ts';
import { javaDecimal, plainDecimal, shortTime, sixDigitTime } from './support/ledger/wire-text.ts';

const TEN_MINUTES = 600_000_000;

describe('a random ledger', () => {
  it('is the same for the same seed and another for another', () => {
    const lines = (seed: number): (string | null)[] => [...randomLedger(oddLedger(seed))].map(scanLine);
    expect(lines(7)).toEqual(lines(7));
    expect(lines(7)).not.toEqual(lines(8));
  });

  it('is valid: the oracle computes 20 of them, and every snapshot adds up', () => {
    for (let seed = 0; seed < 20; seed++) {
      const changes = {
        migrations: 1 + (seed % 3),
        synchronizers: 1 + (seed % 2),
        carriedOver: (seed % 4) * 10,
        importCreatesMax: 1 + (seed % 5),
        shares: { repair: (seed % 2) * 0.2 },
      };
      const { snapshots } = oracle(randomLedger(oddLedger(seed, changes)), { periodMicros: TEN_MINUTES });
      expect(snapshots.length, `seed ${seed}`).toBeGreaterThan(10);
      for (const snapshot of snapshots) {
        const sums = ownersOf(snapshot).map((party) => totalsOf(snapshot, party));
        const total = sums.reduce((sum, { unlocked, locked }) => sum + unlocked + locked, 0n);
        const { unlocked, locked } = supplyOf(snapshot);
        expect(total, `seed ${seed}`).toBe(unlocked + locked);
        expect(stateV0(snapshot, ownersOf(snapshot))).toHaveLength(snapshot.coins.length);
      }
    }
  });

  it('has everything that may happen', () => {
    const changes = { updates: 2_000, migrations: 3, importCreatesMax: 4, shares: { repair: 0.05 } };
    const items = [...randomLedger(oddLedger(3, changes))];
    const updates = items.filter((item) => item.kind === 'update');
    const events = updates.flatMap((update) => [...inOrder(update.events)]);
    const { snapshots, counts } = oracle(items, { periodMicros: TEN_MINUTES });
    const coins = snapshots.flatMap((snapshot) => snapshot.coins.map(coinOf));
    expect(new Set(updates.map((update) => update.wrapping)).size).toBe(4);
    expect(new Set(items.map((item) => item.kind)).size).toBe(3);
    expect(events.some((event) => !event.acsDelta)).toBe(true);
    expect(updates.some((update) => update.recordTime !== null && update.recordTime % TEN_MINUTES === 0)).toBe(true);
    expect(coins.some(({ lock }) => lock !== null)).toBe(true);
    expect(coins.some(({ amount }) => amount >= 10n ** 37n)).toBe(true);
    expect(coins.some(({ rate }) => rate === 0n)).toBe(true);
    expect(decisiveRounds(snapshots.at(-1)!).length).toBeGreaterThan(20);
    expect(updates.some((update) => importsOfOne(update).length > 1)).toBe(true);
    expect(updates.some((update) => update.sharesTime && update.wrapping === 'transaction')).toBe(true);
    for (const wrapping of ['assignment', 'unassignment']) {
      const within = updates.filter(
        (each) => each.wrapping === wrapping && each.otherSynchronizerId === each.synchronizerId,
      );
      expect(within.some((update) => update.sharesTime)).toBe(true);
      expect(within.some((update) => !update.sharesTime)).toBe(true);
    }
    expect(counts.importsLate).toBeGreaterThan(0);
    expect(counts.redelivered).toBeGreaterThan(0);
  });

  it('has events_by_id keys out of order and amounts with an exponent in format A', () => {
    const text = [...randomLedger(oddLedger(1, { updates: 1_000 }))].map(scanLine).join('\n');
    expect(text).toMatch(/"initialAmount":"[0-9.]+E-[0-9]+"/);
    expect(text).toMatch(/"rate":"0E-10"/);
  });

  it('is real-shaped for benches: about 1.1 kB an event and a fifth of the events active', () => {
    const events = 20_000;
    let [bytes, seen, active] = [0, 0, 0];
    for (const item of randomLedger(realLedger({ seed: 1, events }))) {
      if (seen >= events) break;
      if (item.kind !== 'update') continue;
      bytes += scanLine(item)!.length;
      for (const event of inOrder(item.events)) {
        if (event.kind === 'exercise' && !event.consuming) continue;
        seen++;
        active += event.kind === 'create' ? 1 : -1;
      }
    }
    expect(bytes / seen).toBeGreaterThan(1_000);
    expect(bytes / seen).toBeLessThan(1_250);
    expect(active / seen).toBeGreaterThan(0.15);
    expect(active / seen).toBeLessThan(0.25);
  });
});

describe('the text of amounts and times', () => {
  it.each([
    [0n, '0E-10', '0.0000000000'],
    [1n, '1E-10', '0.0000000001'],
    [9_999n, '9.999E-7', '0.0000009999'],
    [10_000n, '0.0000010000', '0.0000010000'],
    [237_650_066_688_730n, '23765.0066688730', '23765.0066688730'],
  ])('prints %s units as Scan does, %s, and as the Ledger API does, %s', (units, java, plain) => {
    expect([javaDecimal(units), plainDecimal(units)]).toEqual([java, plain]);
  });

  it('prints a time with six digits and with as few as it needs', () => {
    const micros = Date.UTC(2024, 8, 20, 13, 31, 28) * 1000 + 405_180;
    expect([sixDigitTime(micros), shortTime(micros)]).toEqual([
      '2024-09-20T13:31:28.405180Z',
      '2024-09-20T13:31:28.40518Z',
    ]);
    expect(shortTime(Date.UTC(2025, 0, 1) * 1000)).toBe('2025-01-01T00:00:00Z');
  });

  it('writes no checkpoint and no notice in the Scan form', () => {
    for (const item of randomLedger(oddLedger(2, { migrations: 2 }))) {
      expect(scanLine(item) === null).toBe(item.kind !== 'update');
    }
  });
});
