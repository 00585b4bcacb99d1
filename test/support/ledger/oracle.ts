import type { Contract, HistoryCheckpoint, HistoryEvent, HistoryItem, HistoryUpdate, Micros } from './history.ts';
import { entityOf, inOrder, isOurs } from './history.ts';
import { digestsOf, NO_DIGESTS, type OracleDigests } from './oracle-digests.ts';
import {
  archiveToken,
  coinDiffers,
  createToken,
  isActiveToken,
  isToken,
  newTokenEra,
  type TokenCounts,
  type TokenEra,
  type TokenHolding,
} from './oracle-tokens.ts';
import { createArguments, plainDecimal } from './wire-text.ts';

/** A coin that counts, and the place of its first create. */
export interface ActiveCoin {
  readonly contract: Contract;
  /** Null for an import. */
  readonly updateId: string | null;
  readonly node: number;
}

export interface OracleSnapshot extends OracleDigests {
  readonly migrationId: number;
  readonly recordTime: Micros;
  /** Everything that is active and counts. */
  readonly coins: readonly ActiveCoin[];
  readonly tokens: readonly TokenHolding[];
}

/** What is active and counts from a counted time on. */
export interface OracleMoment {
  readonly countedAt: Micros;
  readonly coins: readonly ActiveCoin[];
}

/** A migration with an update that is no import. */
export interface OracleHistory {
  readonly migrationId: number;
  /** What its imports brought, and then behind each update that changed a coin. */
  readonly moments: readonly OracleMoment[];
  readonly appliedTo: Micros;
  /** The times of its snapshots in order, forced ones included. */
  readonly sealed: readonly Micros[];
}

export interface Oracle {
  readonly histories: readonly OracleHistory[];
  /** By migration and record time. */
  readonly snapshots: readonly OracleSnapshot[];
  readonly lastMigration: number;
  /** The lowest open mining round active at the end in the newest migration. */
  readonly lowestOpenRound: bigint | null;
  readonly dso: string;
  readonly counts: { readonly updates: number; readonly redelivered: number; readonly importsLate: number };
  readonly tokenCounts: Readonly<TokenCounts>;
  /** Holdings that are active and cannot be read, by migration. */
  readonly unreadable: ReadonlyMap<number, readonly Contract[]>;
  /** What a snapshot forced after the last item answers; null where there is none to answer with. */
  readonly forced: OracleSnapshot | null;
}

/** Of one synchronizer: its first and last times, and the ids of the updates at the last one. */
interface AppliedTimes {
  readonly first: Micros;
  readonly last: Micros;
  readonly ids: ReadonlySet<string>;
}

/** A migration while it is worked out. */
export interface Era extends TokenEra {
  readonly migrationId: number;
  /** Of each synchronizer: the record times of its first and its last update. */
  readonly applied: Map<string, AppliedTimes>;
  /** The newest time that a checkpoint named, by synchronizer. */
  readonly passed: Map<string, Micros>;
  readonly coins: Map<string, ActiveCoin>;
  readonly rounds: Map<string, Contract>;
  readonly counterfeits: Set<string>;
  readonly snapshots: OracleSnapshot[];
  readonly moments: OracleMoment[];
  readonly sealed: Micros[];
  /** The next grid time to seal; null before the first update that is not an import. */
  next: Micros | null;
  /** The largest time moved to, by updates and checkpoints. */
  reached: Micros;
  /** The largest record time of an update. */
  updated: Micros;
}

interface World {
  readonly periodMicros: number;
  readonly onUpdate: (era: Era, update: HistoryUpdate) => void;
  readonly eras: Map<number, Era>;
  readonly hasMoments: boolean;
  readonly showsViews: (item: HistoryUpdate) => boolean;
  readonly followed: ReadonlySet<string> | null;
  readonly tokenCounts: TokenCounts;
  dso: string | null;
  updates: number;
  redelivered: number;
  importsLate: number;
}

export interface OracleOptions {
  readonly periodMicros: number;
  readonly dso?: string;
  /** Numbers of items behind which a snapshot is forced; only where they are given are there histories. */
  readonly cuts?: readonly number[];
  /** Called behind each update that is applied. */
  readonly onUpdate?: World['onUpdate'];
  /** Whether the feed carries an update's views; in a Scan's form none does. */
  readonly showsViews?: World['showsViews'];
  /** The owners whose coins and tokens count; everybody unless given. */
  readonly followed?: ReadonlySet<string>;
}

/**
 * Works out a history by the rules of the design alone: every snapshot is a copy of the whole active set. Slow and plain on
 * purpose; the history must be valid, and an archive of something unknown throws.
 */
export function oracle(items: Iterable<HistoryItem>, options: OracleOptions): Oracle {
  const { periodMicros, dso, cuts, onUpdate = () => {}, showsViews = () => false, followed = null } = options;
  const counts = { updates: 0, redelivered: 0, importsLate: 0 };
  const world: World = {
    periodMicros,
    onUpdate,
    eras: new Map(),
    hasMoments: cuts !== undefined,
    showsViews,
    followed,
    tokenCounts: { counterfeits: 0, again: 0, notFollowed: 0, viewDiffers: 0 },
    dso: dso ?? null,
    ...counts,
  };
  let applied = 0;
  for (const item of items) {
    if (item.kind === 'update') applyUpdate(world, eraOf(world, item.migrationId), item);
    else if (item.kind === 'checkpoint') applyCheckpoint(world, eraOf(world, item.migrationId), item.times);
    if (cuts?.includes(++applied)) force(world);
  }
  const eras = [...world.eras.values()].sort((a, b) => a.migrationId - b.migrationId);
  const newest = eras.at(-1)!;
  const rounds = [...newest.rounds.values()].map(roundNumber).sort((a, b) => (a < b ? -1 : 1));
  const begun = eras.findLast((era) => era.next !== null);
  const withUpdates = eras.filter(({ moments }) => moments.length > 0);
  const { updates, redelivered, importsLate, tokenCounts } = world;
  return {
    histories: withUpdates.map(historyOf),
    snapshots: eras.flatMap((era) => era.snapshots),
    lastMigration: newest.migrationId,
    lowestOpenRound: rounds[0] ?? null,
    dso: world.dso ?? '',
    counts: { updates, redelivered, importsLate },
    tokenCounts,
    unreadable: new Map(eras.map(({ migrationId, unreadable }) => [migrationId, [...unreadable.values()]])),
    forced: begun === undefined ? null : forcedIn(world, begun),
  };
}

function eraOf({ eras }: World, migrationId: number): Era {
  const known = eras.get(migrationId);
  if (known !== undefined) return known;
  const maps = { coins: new Map(), rounds: new Map(), counterfeits: new Set<string>() };
  const times = { applied: new Map(), passed: new Map() };
  const era: Era = {
    migrationId,
    ...maps,
    ...times,
    ...newTokenEra(),
    snapshots: [],
    moments: [],
    sealed: [],
    next: null,
    reached: Number.NEGATIVE_INFINITY,
    updated: Number.NEGATIVE_INFINITY,
  };
  eras.set(migrationId, era);
  return era;
}

/** The newest snapshot where one is at or after the last update, or that is on the grid; else all that is active now. */
function forcedIn({ periodMicros }: World, { migrationId, snapshots, updated, ...era }: Era): OracleSnapshot | null {
  const newest = snapshots.at(-1) ?? null;
  if (updated % periodMicros === 0 || (newest !== null && newest.recordTime >= updated)) return newest;
  return { migrationId, recordTime: updated, ...activeIn(era), ...NO_DIGESTS };
}

function activeIn({ coins, tokens }: Pick<Era, 'coins' | 'tokens'>): Pick<OracleSnapshot, 'coins' | 'tokens'> {
  return { coins: [...coins.values()], tokens: [...tokens.values()] };
}

function force({ periodMicros, eras }: World): void {
  const begun = [...eras.values()].filter((era) => era.next !== null);
  const newest = begun.sort((a, b) => a.migrationId - b.migrationId).at(-1);
  if (newest === undefined) return;
  const { updated, sealed } = newest;
  if (updated % periodMicros !== 0 && updated > (sealed.at(-1) ?? 0)) sealed.push(updated);
}

/** Where a snapshot is sealed at the time reached, or later, an update counts behind it. */
export function countedAt({ reached, sealed }: Era): Micros {
  return Math.max(reached, (sealed.at(-1) ?? reached - 1) + 1);
}

function noteMoment(era: Era, before: ReadonlySet<ActiveCoin>): void {
  const coins = [...era.coins.values()];
  const isSame = coins.length === before.size && coins.every((coin) => before.has(coin));
  if (!isSame) era.moments.push({ countedAt: countedAt(era), coins });
}

function historyOf({ migrationId, moments, sealed, reached }: Era): OracleHistory {
  const appliedTo = Math.max(reached, sealed.at(-1) ?? reached, moments.at(-1)!.countedAt);
  return { migrationId, moments, sealed, appliedTo };
}

function applyUpdate(world: World, era: Era, update: HistoryUpdate): void {
  if (update.recordTime === null) {
    if (era.next !== null) world.importsLate++;
    else {
      if (isActive(world, era, update)) world.redelivered++;
      applyEvents(world, era, update);
    }
    return;
  }
  if (!isNew(era, update, update.recordTime)) {
    world.redelivered++;
    return;
  }
  world.updates++;
  const { first = update.recordTime, last, ids = [] } = era.applied.get(update.synchronizerId) ?? {};
  const before = last === update.recordTime ? ids : [];
  era.applied.set(update.synchronizerId, {
    first,
    last: update.recordTime,
    ids: new Set([...before, update.updateId]),
  });
  era.next ??= (Math.floor(update.recordTime / world.periodMicros) + 1) * world.periodMicros;
  // An update at exactly T still belongs to T; only a later one seals it.
  while (era.next < update.recordTime) sealNext(world, era);
  era.reached = Math.max(era.reached, update.recordTime);
  era.updated = Math.max(era.updated, update.recordTime);
  const held = [...era.coins.values()];
  if (world.hasMoments && era.moments.length === 0) era.moments.push({ countedAt: update.recordTime - 1, coins: held });
  applyEvents(world, era, update);
  if (world.hasMoments) noteMoment(era, new Set(held));
}

/** Whether an update comes for the first time. Throws where it comes in disorder. */
function isNew(era: Era, { updateId, synchronizerId, sharesTime }: HistoryUpdate, recordTime: Micros): boolean {
  const known = era.applied.get(synchronizerId);
  if (known !== undefined && recordTime < known.first)
    throw new Error(`${updateId} lies before the first update known`);
  if (known !== undefined && recordTime < known.last) return false;
  if (recordTime === known?.last) {
    if (known.ids.has(updateId)) return false;
    if (!sharesTime) throw new Error(`${updateId} comes at the time of another update`);
    return true;
  }
  if (recordTime < (era.passed.get(synchronizerId) ?? recordTime))
    throw new Error(`${updateId} lies before a checkpoint`);
  return true;
}

function sealNext({ periodMicros }: World, era: Era): void {
  const { migrationId, snapshots } = era;
  const sealed = { migrationId, recordTime: era.next!, ...activeIn(era) };
  era.sealed.push(era.next!);
  snapshots.push({ ...sealed, ...digestsOf({ ...sealed, periodMicros, before: snapshots.at(-1) }) });
  era.next = era.next! + periodMicros;
}

function applyCheckpoint(world: World, era: Era, times: HistoryCheckpoint['times']): void {
  for (const { synchronizerId, recordTime } of times) {
    era.passed.set(synchronizerId, Math.max(era.passed.get(synchronizerId) ?? recordTime, recordTime));
  }
  const time = Math.min(...times.map(({ recordTime }) => recordTime));
  if (era.next === null || time < era.reached) return;
  while (era.next <= time) sealNext(world, era);
  era.reached = time;
}

/** Whether an import says nothing new. */
function isActive({ showsViews }: World, era: Era, update: HistoryUpdate): boolean {
  const shown = showsViews(update);
  const counted = update.events.filter(({ contract }) => isOurs(contract) || (shown && isToken(contract)));
  const ours = counted.map(({ contract }) => contract.contractId);
  const known = ours.filter(
    (id) => era.coins.has(id) || era.rounds.has(id) || era.counterfeits.has(id) || isActiveToken(era, id),
  );
  return ours.length > 0 && known.length === ours.length;
}

function applyEvents(world: World, era: Era, update: HistoryUpdate): void {
  const shown = world.showsViews(update);
  for (const event of inOrder(update.events)) {
    if (!event.acsDelta) continue;
    if (!isOurs(event.contract)) {
      if (shown) applyToken(world, era, event);
    } else if (event.kind === 'exercise') {
      if (event.consuming) archive(era, event.contract.contractId);
    } else {
      const updateId = update.recordTime === null ? null : update.updateId;
      const isNew = create(world, era, event.contract, { updateId, node: event.node });
      if (isNew && shown && coinDiffers(event.contract)) world.tokenCounts.viewDiffers++;
    }
  }
  world.onUpdate(era, update);
}

function applyToken({ dso, followed, tokenCounts }: World, era: Era, event: HistoryEvent): void {
  if (event.kind === 'create') createToken(era, event.contract, tokenCounts, { dso, followed });
  else if (event.consuming) archiveToken(era, event.contract.contractId);
}

function archive(era: Era, contractId: string): void {
  const known = era.coins.delete(contractId) || era.rounds.delete(contractId) || era.counterfeits.delete(contractId);
  if (!known) throw new Error(`migration ${era.migrationId}: archive of ${contractId}, which is not active`);
}

/** Whether it is a coin that counts from now on. */
function create(world: World, era: Era, contract: Contract, place: { updateId: string | null; node: number }): boolean {
  const { contractId, payload, signatories } = contract;
  const active = era.coins.get(contractId)?.contract ?? era.rounds.get(contractId);
  if (active !== undefined) {
    if (content(active) !== content(contract)) throw new Error(`${contractId} is active with other content`);
    return false;
  }
  const dso = payload.kind === 'other' ? String(payload.arguments.dso) : payload.dso;
  if (world.dso === null && signatories.includes(dso)) world.dso = dso;
  const isCounterfeit = dso !== world.dso || !signatories.includes(dso);
  const isUnfollowed = payload.kind === 'coin' && world.followed?.has(payload.owner) === false;
  if (isCounterfeit || isUnfollowed) era.counterfeits.add(contractId);
  else if (payload.kind === 'round') era.rounds.set(contractId, contract);
  else era.coins.set(contractId, { contract, ...place });
  return !isCounterfeit && !isUnfollowed && payload.kind === 'coin';
}

/** What makes two creates equal: never package id, node, event id, offset or update id. */
function content(contract: Contract): string {
  const { templateId, createdAt, signatories, observers } = contract;
  const sets = [new Set(signatories), new Set(observers)].map((parties) => [...parties].sort());
  return JSON.stringify([entityOf(templateId), createArguments(contract, plainDecimal), createdAt, sets]);
}

function roundNumber({ payload }: Contract): bigint {
  return payload.kind === 'round' ? payload.round : 0n;
}
