import { expect } from 'vitest';
import { holdfast } from '../program/command.ts';
import type { Ended } from '../program/program.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';
import { linesOf, replayInto } from '../views/replayed.ts';
import { dumpRows } from '../views/views-dump.ts';
import { oddLedger } from './options.ts';
import { randomLedger } from './random-ledger.ts';

/** A feed that faults of the machine are to disturb, and the views of an undisturbed replay. */
export interface FaultFeed {
  readonly path: string;
  readonly wanted: ReturnType<typeof dumpRows>;
}

export async function prepareFaultFeed(folder: TemporaryDirectory): Promise<FaultFeed> {
  const options = { updates: 800, owners: 200, activeTarget: 400, migrations: 2 };
  const path = folder.writeLines('feed.ndjson', linesOf(randomLedger(oddLedger(71, options)), 'scan'));
  await replayInto(folder.at('undisturbed'), [path], { snapshotPeriodUs: null });
  return { path, wanted: dumpRows(folder.at('undisturbed')) };
}

/** One line for people, whatever else is in the log. */
export function expectOneLine({ stderr }: Pick<Ended, 'stderr'>, says: RegExp): void {
  const lines = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
  expect(lines).toEqual([expect.stringMatching(says)]);
}

export async function expectSound(dataDir: string): Promise<void> {
  expect(await holdfast('verify', '--data', dataDir)).toMatchObject({ code: 0, stderr: '' });
}

export const isReady = (status: number): boolean => status === 200;
