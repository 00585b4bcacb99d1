import type { SeedMark } from '../ledger/update.ts';
import { fault } from './fault.ts';
import {
  isWire,
  ledgerOffsetOf,
  readList,
  readMigrationId,
  readObject,
  readText,
  readTime,
  type Wire,
} from './values.ts';

/** The one message of our own: it ends a seed (docs/rules.md, rule 13). */
export function looksLikeSeedMark(message: Wire): boolean {
  return isWire(message.seed);
}

/** Throws Fault. */
export function decodeSeedMark(message: Wire): SeedMark {
  const mark = readObject(message.seed, 'seed');
  const migrationId = readMigrationId(mark.migration_id, 'seed.migration_id');
  const recordTime = readTime(mark.record_time, 'seed.record_time');
  const offset = ledgerOffsetOf(mark.offset);
  if (offset === null && mark.offset != null) fault('seed.offset', mark.offset, 'a whole number of 0 or more');
  const times = readList(mark.synchronizer_times ?? [], 'seed.synchronizer_times').map((each, i) => {
    const field = `seed.synchronizer_times[${i}]`;
    const named = readObject(each, field);
    const time = readTime(named.recordTime, `${field}.recordTime`);
    if (time > recordTime)
      fault(`${field}.recordTime`, named.recordTime, 'a time up to record_time, the largest of them');
    const synchronizerId = readText(named.synchronizerId, `${field}.synchronizerId`, 'a synchronizer id');
    return { synchronizerId, recordTime: time };
  });
  return { kind: 'seed mark', migrationId, recordTime, times, offset };
}
