import type { FactKind, Lookup } from '../src/holdings/facts.ts';
import { createFactsReader } from '../src/views/read/views-store.ts';
import { openForReading } from '../src/views/store/database.ts';

/** CPU of one read of the newest snapshot of a data directory, microseconds; of all owners for `top`, in milliseconds. */
export interface StoredReadsReport {
  readonly owners: number;
  readonly totalsUs: number;
  readonly expiredUs: number;
  readonly pageUs: number;
  readonly historyUs: number;
  readonly topMs: number;
}

const OWNERS_MAX = 1_000_000;
const READS = 4_000;
const PAGE_SIZE = 100;
const POINTS = 144;
/** Of Knuth's multiplicative hash: the same owners in each run, all over the tables. */
const STRIDE = 2_654_435_761;

const db = openForReading(process.argv[2]!);
const { read } = createFactsReader(db);
const newest = read({ kind: 'newest snapshots' }).at(-1)!;
const { migrationId, recordTime } = newest;
const snapshot = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' } as const;
const { periodUs } = read({ kind: 'migration', migrationId: BigInt(migrationId) })!;
const ends = { from: 0, to: recordTime, every: periodUs, order: 'desc', rows: POINTS } as const;
const points = read({ kind: 'listed snapshots', migrationId, ...ends });
const listed = { migrationId, recordTime, prefix: '', after: null, rows: OWNERS_MAX } as const;
const parties = read({ kind: 'listed owners', ...listed }).map(({ party }) => party);

/** The mean over owners that were not read before in the same way. */
function meanUs<K extends FactKind>(lookupOf: (party: string) => Lookup<K>): number {
  const started = process.cpuUsage();
  for (let i = 1; i <= READS; i++) read(lookupOf(parties[(i * STRIDE) % parties.length]!));
  const { user, system } = process.cpuUsage(started);
  return (user + system) / READS;
}

function readTop(): number {
  const started = process.cpuUsage();
  read({ kind: 'ranking', migrationId, recordTime });
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

db.exec('BEGIN');
const report: StoredReadsReport = {
  owners: parties.length,
  totalsUs: meanUs<'owners'>((party) => ({ kind: 'owners', snapshot, owners: [party], round: null })),
  expiredUs: meanUs<'owners'>((party) => ({ kind: 'owners', snapshot, owners: [party], round: 'lowest open' })),
  pageUs: meanUs<'page'>((party) => ({ kind: 'page', snapshot, owners: [party], pageSize: PAGE_SIZE, after: null })),
  historyUs: meanUs<'changes'>((party) => ({
    kind: 'changes',
    migrationId,
    party,
    from: points.at(-1)!.recordTime,
    to: points[0]!.recordTime,
    order: 'asc',
    rows: POINTS,
  })),
  topMs: readTop(),
};
db.exec('COMMIT');
db.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
