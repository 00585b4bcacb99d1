import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import type { HistoryItem } from '../ledger/history.ts';
import { type Oracle, type OracleSnapshot, oracle } from '../ledger/oracle.ts';
import type { Instrument } from '../ledger/oracle-holdings.ts';
import { type FoldedSnapshot, folded } from '../ledger/oracle-tables.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';
import { type Format, linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from './replayed.ts';

/** A data directory, and the snapshots that it should have, by migration and record time. */
export interface TableViews {
  readonly dataDir: string;
  /** With the coins of each. */
  readonly snapshots: readonly FoldedSnapshot[];
  /** The same with the tokens of an instrument. */
  readonly snapshotsOf: (instrument: Instrument) => FoldedSnapshot[];
  /** Of the whole ledger. */
  readonly told: Oracle;
}

/** Replays a ledger, with a snapshot forced behind each of some items. */
export async function replayWithForced(
  folder: TemporaryDirectory,
  items: readonly HistoryItem[],
  cuts: readonly number[],
  format: Format = 'scan',
  followed: readonly string[] | null = null,
): Promise<TableViews> {
  const dataDir = folder.at(`views-${cuts.join('-')}`);
  const lines = items.map((item) => linesOf([item], format));
  const migrationId = Math.max(...items.map((item) => item.migrationId));
  const replayed = async (feed: string, seal: boolean): Promise<void> => {
    const { halted } = await replayInto(dataDir, [feed], { seal, migrationId, ...SMALL_EPOCHS });
    if (halted !== null) throw new Error(`the feed was halted: ${halted.reason}`);
  };
  if (followed !== null) await followOnly(dataDir, folder.writeLines('none.ndjson', []), followed);
  const about = { periodMicros: TEN_MINUTES_US, showsViews: () => format !== 'scan' };
  const options = { ...about, ...(followed !== null && { followed: new Set(followed) }) };
  const forced = new Map<string, OracleSnapshot>();
  for (const cut of cuts) {
    const made = oracle(items.slice(0, cut), options).forced;
    // On the grid a snapshot is nobody's but the feed's.
    if (made === null || made.recordTime % TEN_MINUTES_US === 0) continue;
    const key = `${made.migrationId} ${made.recordTime}`;
    if (!forced.has(key)) forced.set(key, made);
    await replayed(folder.writeLines(`part-${cut}.ndjson`, lines.slice(0, cut).flat()), true);
  }
  await replayed(folder.writeLines('all.ndjson', lines.flat()), false);
  const told = oracle(items, options);
  const isForced = new Set(forced.values());
  const all = [...told.snapshots, ...isForced].sort(
    (a, b) => a.migrationId - b.migrationId || a.recordTime - b.recordTime,
  );
  const snapshotsOf = (instrument: Instrument | null): FoldedSnapshot[] =>
    all.map((snapshot) => folded(snapshot, isForced.has(snapshot), instrument));
  return { dataDir, snapshots: snapshotsOf(null), snapshotsOf, told };
}

/** As a participant's source leaves an empty directory; files do not say whom they follow. */
async function followOnly(dataDir: string, empty: string, followed: readonly string[]): Promise<void> {
  await replayInto(dataDir, [empty]);
  const db = new DatabaseFile(join(dataDir, 'views.db'));
  db.prepare('UPDATE setting SET followed = ?').run(JSON.stringify(followed));
  db.close();
}
