/** The part of a fetched record that shows whether its transaction was aborted; offsets in digits, as kafkajs gives them. */
export interface FetchedRecord {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
}

export interface AbortedTransaction {
  readonly producerId: string;
  readonly firstOffset: string;
}

/** The key of a control record is its version and its type: 0 ends an aborted transaction, 1 a committed one. */
const ABORT_KEY = Buffer.from([0, 0, 0, 0]);

/**
 * The records of a fetch without those of aborted transactions. In place of kafkajs' own, which expects the transactions in
 * the order of their first offsets (brokers list them as they ended), and takes a message with the key 0 for the end of one.
 */
export function withoutAborted<FetchedMessage extends FetchedRecord>({
  messages,
  abortedTransactions,
}: {
  messages: readonly FetchedMessage[];
  abortedTransactions: readonly AbortedTransaction[] | null;
}): FetchedMessage[] {
  const ahead = (abortedTransactions ?? []).map(({ producerId, firstOffset }) => ({
    producerId,
    from: BigInt(firstOffset),
  }));
  ahead.sort((a, b) => (a.from < b.from ? -1 : 1));
  if (ahead.length === 0) return [...messages];
  const aborted = new Set<string>();
  let next = 0;
  return messages.filter(({ offset, key, isControlRecord, batchContext: { producerId, inTransaction } }) => {
    while (next < ahead.length && ahead[next]!.from <= BigInt(offset)) {
      aborted.add(ahead[next]!.producerId);
      next += 1;
    }
    if (isControlRecord) {
      if (key !== null && ABORT_KEY.equals(key)) aborted.delete(producerId);
      return true;
    }
    return !(inTransaction && aborted.has(producerId));
  });
}
