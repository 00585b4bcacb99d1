import { describe, expect, it } from 'vitest';
import { Agreement, type Disputed } from '../../../src/feed/scan/agreement.ts';
import type { ScanUpdate } from '../../../src/feed/scan/updates.ts';
import { emptyUpdate } from '../../support/ledger/empty-update.ts';

/**
 * How it is, how many Scans have to tell it alike, and what happens: what a Scan adds, and after `>` what is taken then. `1a`: an update at
 * time 1 counts; `1!` cannot be decoded; `-1b:C`: it is not believed of C; `?2a:AB!C`: reading waits before it, told by A and B and not by C.
 */
const CASES = `
one of two needed: the first that tells it is enough        | 1 of 2 | A 1a 2a > 1a 2a ; B 1a 2a >
two of two needed: it waits for the second                  | 2 of 2 | A 1a > ?1a:A ; B 1a > 1a
the order of the Scans does not matter                      | 2 of 2 | B 1a > ?1a:B ; A 1a > 1a
what is told alike counts up to the first that is not       | 2 of 2 | A 1a 2a 3a > ?1a:A ; B 1a 2b 3a > 1a ?2a:A!B
a third that agrees later changes nothing                   | 2 of 3 | A 1a > ?1a:A ; B 1a > 1a ; C 1a >
a third that tells otherwise is not believed                | 2 of 3 | A 1a > ?1a:A ; B 1a > 1a ; C 1b > -1b:C
one that tells otherwise first is not believed either       | 2 of 3 | C 1b > ?1b:C ; A 1a > ?1b:C!A ; B 1a > 1a -1b:C
what two that are further lack is not believed              | 2 of 3 | A 1a 3a > ?1a:A ; B 3a > ?1a:A!B ; C 3a > 3a -1a:A
what one that is further lacks waits                        | 2 of 3 | A 1a > ?1a:A ; B 2a > ?1a:A!B ; C 1a > 1a ?2a:B
one that lacks it, asked again, may have it by then         | 2 of 2 | A 1a 2a > ?1a:A ; B 2a > ?1a:A!B ; B clear > ?1a:A ; B 1a 2a > 1a 2a
one that comes behind what was taken is compared with it    | 2 of 3 | A 2a > ?2a:A ; B 2a > 2a ; A 1a > ?1a:A!B ; B 1a > 1a
all three needed: it waits for the last                     | 3 of 3 | A 1a > ?1a:A ; B 1a > ?1a:AB ; C 1a > 1a
all three needed: what two tell and one lacks waits         | 3 of 3 | A 1a 2a > ?1a:A ; B 1a 2a > ?1a:AB ; C 2a > ?1a:AB!C
what cannot be decoded counts where it is told alike        | 2 of 2 | A 1! > ?1!:A ; B 1! > 1!
a time that one tells wrongly ahead makes nothing lost       | 2 of 3 | A 1a 9b > ?1a:A ; B 1a 2a 3a > 1a ?2a:B!A ; C 3a > 3a -2a:B ?9b:A ; C 2a > 2a ?9b:A
the time of what cannot be decoded does not reach anywhere  | 2 of 3 | A 9! > ?9!:A ; B 9! > 9! ; C 9! > ; A 1a > ?1a:A ; B 1a > 1a
`;

/** `1a`: an update at second 1 whose content is a; `1!` is bad. */
function updateOf(name: string): ScanUpdate {
  const second = Number(name.slice(0, -1));
  const item = { ...(JSON.parse(emptyUpdate('s', second)) as object), update_id: name };
  const bytes = Buffer.from(JSON.stringify(name.endsWith('!') ? { ...item, synchronizer_id: 7 } : item));
  const at = { migrationId: 0, recordTime: second * 1_000_000 };
  return { bytes, id: name, at, upTo: at, synchronizer: 's' };
}

const scanNames = (scans: readonly number[]): string =>
  [...scans]
    .sort()
    .map((scan) => 'ABC'[scan])
    .join('');

function disputedText({ update, toldBy, notBy }: Disputed): string {
  return `?${update.id}:${scanNames(toldBy)}${notBy.length === 0 ? '' : `!${scanNames(notBy)}`}`;
}

/** What is taken after each of the steps, in the words of the table. */
function run(needed: string, steps: string): string {
  const [least, of] = needed.split(' of ').map(Number) as [number, number];
  const agreement = new Agreement({ scans: of, needed: least });
  const ran = steps.split(' ; ').map((step) => {
    const told = step.split('>')[0]!.trim();
    const [scan = '', ...names] = told.split(' ');
    if (names[0] === 'clear') agreement.clear('ABC'.indexOf(scan));
    else agreement.add('ABC'.indexOf(scan), names.map(updateOf));
    const { agreed, passedOver, waiting } = agreement.take();
    const taken = [
      ...agreed.map(({ id }) => id),
      ...passedOver.map(({ update, toldBy }) => `-${update.id}:${scanNames(toldBy)}`),
      ...(waiting === null ? [] : [disputedText(waiting)]),
    ];
    return `${told} > ${taken.join(' ')}`.trim();
  });
  return ran.join(' ; ');
}

describe('what several Scans tell', () => {
  it.each(
    CASES.trim()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim())),
  )('%s (%s)', (_, needed, steps) => {
    expect(run(needed!, steps!)).toBe(steps);
  });
});
