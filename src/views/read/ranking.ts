import type { Database } from 'better-sqlite3';
import type { Ranking } from '../../holdings/insight/facts.ts';
import type { StoredSnapshot } from './snapshots.ts';
import type { VersionReader } from './versions.ts';

/**
 * Orders the owners with coin at a snapshot. There may be millions, so only packed numbers are in memory: of each owner its
 * number, its two sums as bytes (as many as the supply needs, which no sum exceeds) and its place in two orders; some 45 MB for
 * a million.
 */
export function rankOwners(db: Database, snapshot: StoredSnapshot, versions: VersionReader): Ranking {
  const { owners: count, seq, migrationId } = snapshot;
  const width = bytesOf(snapshot.unlocked + snapshot.locked);
  const owners = new Uint32Array(count);
  const unlocked = new Uint8Array(count * width);
  const locked = new Uint8Array(count * width);
  let found = 0;
  for (const { owner, totals } of versions.all(migrationId, seq)) {
    if (totals.contracts === 0) continue;
    if (found === count) throw new Error(`migration ${migrationId} has more than ${count} owners in snapshot ${seq}`);
    owners[found] = owner;
    write(unlocked, { at: found * width, sum: totals.unlocked });
    write(locked, { at: found * width, sum: totals.locked });
    found += 1;
  }
  if (found !== count) throw new Error(`migration ${migrationId} has ${found} of ${count} owners in snapshot ${seq}`);

  const byParty = partyOrder(db, migrationId, owners);
  const ranked = (sums: Uint8Array): Uint32Array => {
    const order = largestFirst(byParty, sums, width);
    for (let i = 0; i < count; i++) order[i] = owners[order[i]!]!;
    return order;
  };
  const rankings = { unlocked: ranked(unlocked), locked: ranked(locked) };
  addAll(unlocked, locked, width);
  return { ...rankings, total: ranked(unlocked) };
}

function bytesOf(sum: bigint): number {
  return Math.max(1, Math.ceil(sum.toString(2).length / 8));
}

const PART_BYTES = 6;

/** A sum as bytes, the lowest first, six at a time, which a double counts exactly. */
function write(bytes: Uint8Array, { at, sum }: { readonly at: number; readonly sum: bigint }): void {
  for (let i = at, rest = sum; rest > 0n; i += PART_BYTES, rest >>= BigInt(PART_BYTES * 8)) {
    let part = Number(BigInt.asUintN(PART_BYTES * 8, rest));
    for (let j = i; part > 0; j++, part = Math.floor(part / 256)) bytes[j] = part % 256;
  }
}

/** Adds each sum to the one at its place. */
function addAll(sums: Uint8Array, added: Uint8Array, width: number): void {
  let carry = 0;
  for (let i = 0; i < sums.length; i++) {
    if (i % width === 0) carry = 0;
    const byte = sums[i]! + added[i]! + carry;
    sums[i] = byte & 255;
    carry = byte >> 8;
  }
}

/** Places in `owners`, which are in ascending order, by the UTF-8 bytes of their parties. */
function partyOrder(db: Database, migrationId: number, owners: Uint32Array): Uint32Array {
  const byParty = db
    .prepare<[number], number>('SELECT id FROM owner WHERE migration_id = ? + 0 ORDER BY party')
    .pluck();
  const order = new Uint32Array(owners.length);
  let placed = 0;
  for (const owner of byParty.iterate(migrationId)) {
    const place = placeOf(owner, owners);
    if (owners[place] === owner) order[placed++] = place;
  }
  return order;
}

function placeOf(owner: number, owners: Uint32Array): number {
  let [low, high] = [0, owners.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (owners[middle]! < owner) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Orders places by their sums; equal ones stay in the order given. A radix sort, which needs only the memory of a second order. */
function largestFirst(places: Uint32Array, sums: Uint8Array, width: number): Uint32Array {
  let from = places;
  let to = new Uint32Array(places.length);
  let spare = new Uint32Array(places.length);
  const starts = new Uint32Array(256);
  for (let byte = 0; byte < width; byte++) {
    starts.fill(0);
    for (const place of from) starts[sums[place * width + byte]!]! += 1;
    for (let value = 255, start = 0; value >= 0; value--) {
      const count = starts[value]!;
      starts[value] = start;
      start += count;
    }
    for (const place of from) to[starts[sums[place * width + byte]!]!++] = place;
    from = to;
    [to, spare] = [spare, to];
  }
  return from;
}
