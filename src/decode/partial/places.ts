import { isLoaded, load, NULL } from './json-bytes.ts';
import { KnownTexts } from './known-texts.ts';
import { Members } from './members.ts';

/** How much of a text of many messages is copied at once: some dozens of the usual ones. */
const WINDOW_BYTES = 2 ** 18;

const transaction = new Members(['update_id', 'migration_id', 'record_time', 'synchronizer_id', 'event']);
const [UPDATE_ID, MIGRATION_ID, RECORD_TIME, SYNCHRONIZER_ID, REASSIGNMENT] = [0, 1, 2, 3, 4];
const synchronizers = new KnownTexts(16);

/** The members of a Scan transaction that say which one it is and where its ledger has it; no value is validated. */
export interface TransactionPlace {
  readonly updateId: unknown;
  readonly migrationId: unknown;
  readonly recordTime: unknown;
  readonly synchronizerId: unknown;
}

interface Read {
  readonly seen: TransactionPlace;
  readonly end: number;
}

/**
 * Reads the places of transactions in a text that has many, which must be UTF-8: all of a transaction is checked to be JSON, and
 * nothing else of it is looked at. Null for what must be parsed in full to be understood, and for what is no transaction.
 */
export function placeReader(text: Buffer): (at: number) => Read | null {
  let from = 0;
  let window = text.subarray(0, 0);

  function readAgain(at: number): Read | null {
    from = at;
    window = text.subarray(at, at + WINDOW_BYTES);
    load(window);
    return readPlace(0);
  }

  return (at) => {
    const isWithin = isLoaded(window) && at > from && at < from + window.length;
    // It may end behind the window.
    const read = (isWithin ? readPlace(at - from) : null) ?? readAgain(at);
    return read && { ...read, end: from + read.end };
  };
}

function readPlace(at: number): Read | null {
  const end = transaction.read(at);
  if (end < 0 || (transaction.isThere(REASSIGNMENT) && !transaction.is(REASSIGNMENT, NULL))) return null;
  const seen = {
    updateId: transaction.parsed(UPDATE_ID),
    migrationId: transaction.parsed(MIGRATION_ID),
    recordTime: transaction.parsed(RECORD_TIME),
    synchronizerId: transaction.parsed(SYNCHRONIZER_ID, synchronizers),
  };
  return { seen, end };
}
