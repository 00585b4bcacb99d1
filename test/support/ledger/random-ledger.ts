import type { Contract, Draft, HistoryItem, HistoryUpdate, Micros } from './history.ts';
import { numbered } from './history.ts';
import type { LedgerOptions } from './options.ts';
import type { Random } from './random.ts';
import { createRandom } from './random.ts';
import { drawCounterfeit, drawRound } from './random-contract.ts';
import type { Clock, Era } from './random-era.ts';
import { checkpointTimes, nextEra, openEra, tick } from './random-era.ts';
import type { Names } from './random-names.ts';
import { createNames } from './random-names.ts';
import { newToken } from './random-token-update.ts';
import type { Step } from './random-update.ts';
import { advanceRounds, drawRepair, drawTransaction, newCoin } from './random-update.ts';

interface World {
  readonly options: LedgerOptions;
  readonly random: Random;
  readonly names: Names;
  readonly eras: Era[];
  offset: number;
}

/**
 * A random ledger, item by item, never whole in memory: the same options give the same items. Every update is valid, so a
 * replay must take all of it. Checkpoints, notices and repairs that share a time exist only in the Ledger API form.
 */
export function* randomLedger(options: LedgerOptions): Generator<HistoryItem> {
  const random = createRandom(options.seed);
  const first = openEra(random, options, {
    migrationId: options.migrationId ?? random.below(4),
    now: options.start,
  });
  const world: World = { options, random, names: createNames(random, options), eras: [first], offset: 0 };
  if (options.carriedOver > 0) yield* carryOver(world, first);
  const updatesPerEra = Math.ceil(options.updates / options.migrations);
  for (let made = 0; made < options.updates; made++) {
    if (made > 0 && made % updatesPerEra === 0) yield* migrate(world);
    const newest = world.eras.at(-1)!;
    const era = random.chance(options.shares.olderMigration) ? random.pick(world.eras) : newest;
    yield* besides(world, era);
    if (made % options.roundEvery === 0) yield transaction(world, era, advanceRounds);
    else yield* someUpdate(world, era);
    if (era === newest && world.eras.length === options.migrations) yield* repairs(world, era);
  }
}

/** What a reassignment may move. */
function heldContracts({ random, options }: World, { coins, tokens }: Era): readonly Contract[] {
  const { token } = options.shares;
  return token > 0 && tokens.length > 0 && random.chance(token) ? tokens.map(({ contract }) => contract) : coins;
}

function* someUpdate(world: World, era: Era): Generator<HistoryUpdate> {
  const { random, options } = world;
  const held = heldContracts(world, era);
  const someContract = held.length > 0 ? random.pick(held) : null;
  const { reassignment: leaving, within } = options.shares;
  const leaves = someContract !== null && random.chance(leaving) && era.synchronizers.length > 1;
  if (leaves) yield* reassignment(world, era, someContract);
  else if (within > 0 && random.chance(within)) yield repair(world, era, tick(random, options, era));
  else yield transaction(world, era, drawTransaction);
  const hasImports = era.imported.length > 0;
  if (hasImports && random.chance(options.shares.importAgain))
    yield importOf(world, era, [era.imported[era.now % era.imported.length]!]);
}

type Place = ReturnType<typeof tick>;
type DrawRoots = (step: Step) => readonly Draft[];

function transaction(world: World, era: Era, draw: DrawRoots): HistoryUpdate {
  return transactionAt(world, era, tick(world.random, world.options, era), draw);
}

function transactionAt(world: World, era: Era, { clock, recordTime }: Place, draw: DrawRoots): HistoryUpdate {
  const step = stepAt(world, era, recordTime);
  return { ...placed(world, era, clock), recordTime, effectiveAt: step.createdAt, events: numbered(draw(step)) };
}

function stepAt({ random, names, options }: World, era: Era, recordTime: Micros): Step {
  // Whole seconds make coins of different updates share a creation time.
  const createdAt = recordTime - (random.chance(0.5) ? recordTime % 1_000_000 : random.below(1_000_000));
  return { random, names, shares: options.shares, activeTarget: options.activeTarget, era, createdAt };
}

/** One to four updates at the last time of a synchronizer, be it that of an update or of a checkpoint. */
function* repairs(world: World, era: Era): Generator<HistoryUpdate> {
  const { random, options } = world;
  const begun = era.synchronizers.filter(({ last }) => last > 0);
  if (options.shares.repair === 0 || begun.length === 0 || !random.chance(options.shares.repair)) return;
  const clock = random.pick(begun);
  for (let left = 1 + random.below(4); left > 0; left--) {
    if (random.chance(0.5)) yield { ...repair(world, era, { clock, recordTime: clock.last }), sharesTime: true };
    else yield { ...transactionAt(world, era, { clock, recordTime: clock.last }, drawTransaction), sharesTime: true };
  }
}

/** A contract is purged or imported by a reassignment from a synchronizer to the same. */
function repair(world: World, era: Era, { clock, recordTime }: Place): HistoryUpdate {
  const step = stepAt(world, era, recordTime);
  const { wrapping, drafts } = drawRepair(step);
  const otherSynchronizerId = clock.synchronizerId;
  const place = { ...placed(world, era, clock), recordTime, effectiveAt: step.createdAt };
  return { ...place, wrapping, otherSynchronizerId, events: numbered(drafts) };
}

function placed(world: World, era: Era, clock: Clock): Omit<HistoryUpdate, 'events' | 'recordTime' | 'effectiveAt'> {
  return {
    kind: 'update',
    wrapping: 'transaction',
    updateId: world.names.updateId(),
    migrationId: era.migrationId,
    synchronizerId: clock.synchronizerId,
    offset: ++world.offset,
  };
}

/** An unassignment and, on another synchronizer, the assignment of the same contract. */
function* reassignment(world: World, era: Era, contract: Contract): Generator<HistoryUpdate> {
  const source = tick(world.random, world.options, era);
  const target = tick(world.random, world.options, era, source.clock);
  const { templateId } = contract;
  const leaves = {
    kind: 'exercise',
    contract,
    templateId,
    choice: 'Unassign',
    consuming: false,
    children: [],
  } as const;
  yield {
    ...placed(world, era, source.clock),
    wrapping: 'unassignment',
    otherSynchronizerId: target.clock.synchronizerId,
    recordTime: source.recordTime,
    effectiveAt: source.recordTime,
    events: numbered([{ ...leaves, acsDelta: true }]),
  };
  yield {
    ...placed(world, era, target.clock),
    wrapping: 'assignment',
    otherSynchronizerId: source.clock.synchronizerId,
    recordTime: target.recordTime,
    effectiveAt: target.recordTime,
    events: numbered([{ kind: 'create', contract, acsDelta: true }]),
  };
}

function* besides(world: World, era: Era): Generator<HistoryItem> {
  const { random, options } = world;
  const { migrationId } = era;
  if (random.chance(options.shares.checkpoint)) {
    yield { kind: 'checkpoint', migrationId, offset: ++world.offset, times: checkpointTimes(era) };
  }
  if (random.chance(options.shares.notice)) {
    const name = random.pick(['TopologyTransaction', 'SomethingNew']);
    const { synchronizerId } = random.pick(era.synchronizers);
    yield { kind: 'notice', name, migrationId, synchronizerId, recordTime: era.now, offset: ++world.offset };
  }
}

/** A hard migration: everything active is imported, some of it twice, and then an update closes the imports. */
function* migrate(world: World): Generator<HistoryUpdate> {
  const era = nextEra(world.random, world.options, world.eras.at(-1)!);
  world.eras.push(era);
  yield* imports(world, era);
  yield transaction(world, era, advanceRounds);
}

/** Begins with what is left of a migration of which nothing else is known. */
function* carryOver(world: World, era: Era): Generator<HistoryUpdate> {
  const { random, options } = world;
  const step = stepAt(world, era, options.start - options.periodMicros);
  for (let made = 0; made < options.carriedOver; made++) {
    if (made >= 2 && options.shares.token > 0 && random.chance(options.shares.token)) newToken(step);
    else if (made < 2) era.rounds.push(drawRound(step, { round: era.nextRound++, createdAt: step.createdAt }));
    else if (random.chance(0.8)) newCoin(step);
    else era.strays.push(drawCounterfeit(step, { round: era.nextRound, createdAt: step.createdAt }));
  }
  yield* imports(world, era);
}

function* imports(world: World, era: Era): Generator<HistoryUpdate> {
  const { random, options } = world;
  const active = [...era.rounds, ...era.strays, ...era.coins, ...era.tokens.map(({ contract }) => contract)];
  era.imported = active;
  for (let from = 0; from < active.length; ) {
    const to = from + 1 + random.below(options.importCreatesMax);
    yield importOf(world, era, active.slice(from, to));
    // Again with some that are new, or with none of them.
    const { importCreatesMax, shares } = options;
    const overlap = importCreatesMax > 1 && random.chance(shares.importAgain);
    if (overlap) yield importOf(world, era, active.slice(Math.max(0, from - 2), to + 1));
    if (random.chance(shares.importAgain)) yield importOf(world, era, active.slice(from, to));
    from = to;
  }
}

function importOf(world: World, era: Era, contracts: readonly Contract[]): HistoryUpdate {
  return {
    ...placed(world, era, era.synchronizers[0]!),
    wrapping: 'import',
    recordTime: null,
    effectiveAt: contracts[0]!.createdAt,
    events: numbered(contracts.map((contract) => ({ kind: 'create', contract, acsDelta: true }))),
  };
}
