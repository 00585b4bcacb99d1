import { closeSync, openSync, writeSync } from 'node:fs';
import { type ExerciseEvent, ledgerApiLine, scanLine } from './event.ts';
import { confirmAction, expireStaleConfirmation, setNodeConfig, submitStatusReport } from './governance.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { recordLivenessActivity, reportActive, updateMetadata } from './licenses.ts';
import { claimExpiredRewards, convertMarkers, receiveSvRewardCoupon } from './rewards.ts';
import { advanceOpenRounds, bootstrapRounds, closeRound } from './rounds.ts';
import { collectRewards } from './transfer.ts';

/** How many of a hundred updates are of which kind, as on a quiet day of MainNet. */
const KINDS: readonly (readonly [number, (ledger: Ledger) => ExerciseEvent])[] = [
  [15, expireStaleConfirmation],
  [14, setNodeConfig],
  [13, confirmAction],
  [11, claimExpiredRewards],
  [9, receiveSvRewardCoupon],
  [8, recordLivenessActivity],
  [7, submitStatusReport],
  [6, updateMetadata],
  [6, convertMarkers],
  [5, collectRewards],
  [3, closeRound],
  [2, reportActive],
  [1, advanceOpenRounds],
];
const OF_A_HUNDRED = KINDS.flatMap(([share, make]) => Array.from({ length: share }, () => make));
const CHUNK_CHARS = 1 << 20;

interface FeedSize {
  readonly seed: number;
  readonly updates: number;
  /** Scan's form unless given. */
  readonly format?: 'scan' | 'ledger-api';
}

/**
 * So many updates, with the shape of MainNet's: sizes, trees of events, choices, strings. One in twenty
 * touches a coin. What it archives of coins and open rounds it has created before; of other contracts, which are nothing
 * to Holdfast, it archives any. The same seed gives the same lines.
 */
export function* mainnetLines({ seed, updates, format = 'scan' }: FeedSize): Generator<string> {
  const ledger = createLedger(seed);
  for (let made = 0; made < updates; made++) {
    const envelope = ledger.next();
    const make = made === 0 ? bootstrapRounds : ledger.random.pick(OF_A_HUNDRED);
    const root = make(ledger);
    yield format === 'scan' ? scanLine(root, envelope) : ledgerApiLine(root, envelope, made + 1);
  }
}

/** Writes such a feed to a file; returns its size in bytes. */
export function writeMainnetFeed(path: string, size: FeedSize): number {
  const file = openSync(path, 'w');
  let [text, bytes] = ['', 0];
  for (const line of mainnetLines(size)) {
    text += `${line}\n`;
    if (text.length < CHUNK_CHARS) continue;
    bytes += writeSync(file, text);
    text = '';
  }
  bytes += writeSync(file, text);
  closeSync(file);
  return bytes;
}
