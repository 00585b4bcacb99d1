export interface ProducedRecord {
  readonly partition: number;
  readonly value: Uint8Array | null;
}

/** Below Kafka's default limit of a batch, 1 MiB; a larger message is sent alone and needs a topic that allows it. */
const PARTITION_BYTES_MAX = 800_000;
/** What Kafka adds to a record, at most about. */
const RECORD_OVERHEAD_BYTES = 100;

type Value = Uint8Array | string | null;

/** The bytes of a record with this value. */
export function recordBytes(value: Value): number {
  return Buffer.byteLength(value ?? '') + RECORD_OVERHEAD_BYTES;
}

/** In order, with one batch for each partition. */
export function* requestsOf<Sent extends { readonly partition: number; readonly value: Value }>(
  records: readonly Sent[],
): Generator<Sent[]> {
  let request: Sent[] = [];
  let bytes = new Map<number, number>();
  for (const record of records) {
    const { partition, value } = record;
    if (bytes.has(partition) && bytes.get(partition)! + recordBytes(value) > PARTITION_BYTES_MAX) {
      yield request;
      [request, bytes] = [[], new Map()];
    }
    request.push(record);
    bytes.set(partition, (bytes.get(partition) ?? 0) + recordBytes(value));
  }
  if (request.length > 0) yield request;
}
