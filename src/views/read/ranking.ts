import type { Database } from 'better-sqlite3';
import type { Ranking } from '../../holdings/facts.ts';
import type { StoredSnapshot } from './snapshots.ts';
import type { VersionReader } from './versions.ts';

/** A sum in parts, the lowest first: what a radix sort goes by. */
const PART_BITS = 16;
const PARTS = 2 ** PART_BITS;

/**
 * Orders the owners with coin at a snapshot. There may be millions, so nothing but packed numbers is held: of each owner its number,
 * its two sums (in as many parts as the supply has, which no sum exceeds) and its place in five orders; some 50 MB for a million.
 */
export function rankOwners(db: Database, snapshot: StoredSnapshot, versions: VersionReader): Ranking {
  const { owners: count, seq, migrationId } = snapshot;
  const width = Math.ceil((snapshot.unlocked + snapshot.locked).toString(2).length / PART_BITS);
  const owners = new Uint32Array(count);
  const unlocked = new Uint16Array(count * width);
  const locked = new Uint16Array(count * width);
  let found = 0;
  for (const { owner, totals } of versions.all(migrationId, seq)) {
    if (totals.contracts === 0) continue;
    if (found === count) throw new Error(`migration ${migrationId} has more than ${count} owners in snapshot ${seq}`);
    owners[found] = owner;
    writeSum(unlocked, found * width, totals.unlocked);
    writeSum(locked, found * width, totals.locked);
    found += 1;
  }
  if (found !== count) throw new Error(`migration ${migrationId} has ${found} of ${count} owners in snapshot ${seq}`);

  const byParty = partyOrder(db, migrationId, owners);
  const ranked = (sums: Uint16Array): Uint32Array => {
    const order = largestFirst(byParty, sums, width);
    for (let i = 0; i < count; i++) order[i] = owners[order[i]!]!;
    return order;
  };
  const rankings = { unlocked: ranked(unlocked), locked: ranked(locked) };
  addAll(unlocked, locked, width);
  return { ...rankings, total: ranked(unlocked) };
}

/** Three parts at a time: so much a double counts exactly. */
const CHUNK_BITS = 3 * PART_BITS;

function writeSum(parts: Uint16Array, start: number, sum: bigint): void {
  for (let at = start, rest = sum; rest > 0n; at += 3, rest >>= BigInt(CHUNK_BITS)) {
    let chunk = Number(BigInt.asUintN(CHUNK_BITS, rest));
    for (let i = at; chunk > 0; i++, chunk = Math.floor(chunk / PARTS)) parts[i] = chunk % PARTS;
  }
}

/** Adds each sum to the one at its place. */
function addAll(sums: Uint16Array, added: Uint16Array, width: number): void {
  let carry = 0;
  for (let i = 0; i < sums.length; i++) {
    if (i % width === 0) carry = 0;
    const part = sums[i]! + added[i]! + carry;
    sums[i] = part;
    carry = part >= PARTS ? 1 : 0;
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

/** Orders places by their sums; equal ones stay in the order given. A radix sort, which needs no more room than a second order. */
function largestFirst(places: Uint32Array, sums: Uint16Array, width: number): Uint32Array {
  const count = places.length;
  const starts = new Uint32Array(PARTS);
  let from = places.slice();
  let to = new Uint32Array(count);
  for (let part = 0; part < width; part++) {
    starts.fill(0);
    for (let at = part; at < sums.length; at += width) starts[sums[at]!]! += 1;
    // Where all are equal, their order stays. Most have no large parts, and many no locked coin at all.
    if (starts[sums[part]!] === count) continue;
    for (let value = PARTS - 1, start = 0; value >= 0; value--) {
      const size = starts[value]!;
      starts[value] = start;
      start += size;
    }
    for (let i = 0; i < count; i++) {
      const place = from[i]!;
      const value = sums[place * width + part]!;
      to[starts[value]!++] = place;
    }
    [from, to] = [to, from];
  }
  return from;
}
