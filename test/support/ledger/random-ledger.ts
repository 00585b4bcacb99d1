import type { Contract, Draft, HistoryItem, HistoryUpdate } from './history.ts';
import { numbered } from './history.ts';
import type { LedgerOptions } from './options.ts';
import type { Random } from './random.ts';
import { createRandom } from './random.ts';
import { drawCoin, drawTerms } from './random-contract.ts';
import type { Clock, Era } from './random-era.ts';
import { checkpointTimes, nextEra, openEra, tick } from './random-era.ts';
import type { Names } from './random-names.ts';
import { createNames } from './random-names.ts';
import type { Step } from './random-update.ts';
import { advanceRounds, drawTransaction } from './random-update.ts';

interface World {
  readonly options: LedgerOptions;
  readonly random: Random;
  readonly names: Names;
  readonly eras: Era[];
  offset: number;
}

/**
 * A random ledger, item by item, never held as a whole: the same options give the same items. Every update is lawful, so a
 * replay must take all of it. Checkpoints and notices exist only in the Ledger API form, imports only in Scan's.
 */
export function* randomLedger(options: LedgerOptions): Generator<HistoryItem> {
  const random = createRandom(options.seed);
  const first = openEra(random, options, {
    migrationId: options.migrationId ?? random.below(4),
    now: options.start,
  });
  const world: World = { options, random, names: createNames(random, options), eras: [first], offset: 0 };
  const updatesPerEra = Math.ceil(options.updates / options.migrations);
  for (let made = 0; made < options.updates; made++) {
    if (made > 0 && made % updatesPerEra === 0) yield* migrate(world);
    const newest = world.eras.at(-1)!;
    const era = random.chance(options.shares.olderMigration) ? random.pick(world.eras) : newest;
    yield* besides(world, era);
    if (made % options.roundEvery === 0) yield transaction(world, era, advanceRounds);
    else yield* someUpdate(world, era);
  }
}

function* someUpdate(world: World, era: Era): Generator<HistoryUpdate> {
  const { random, options, eras } = world;
  const someCoin = era.coins.length > 0 ? random.pick(era.coins) : null;
  if (someCoin !== null && random.chance(options.shares.reassignment)) yield* reassignment(world, era, someCoin);
  else yield transaction(world, era, drawTransaction);
  if (eras.length > 1 && random.chance(options.shares.importAgain)) yield lateImport(world, era);
}

function transaction(world: World, era: Era, draw: (step: Step) => readonly Draft[]): HistoryUpdate {
  const { random, options, names } = world;
  const { clock, recordTime } = tick(random, options, era);
  // Whole seconds make coins of different updates share a creation time.
  const createdAt = recordTime - (random.chance(0.5) ? recordTime % 1_000_000 : random.below(1_000_000));
  const step = { random, names, shares: options.shares, activeTarget: options.activeTarget, era, createdAt };
  return { ...placed(world, era, clock), recordTime, effectiveAt: createdAt, events: numbered(draw(step)) };
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

/** An unassignment and, on another synchronizer where there is one, the assignment of the same contract. */
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
  const { random, options } = world;
  const era = nextEra(random, options, world.eras.at(-1)!);
  world.eras.push(era);
  for (const contract of [...era.rounds, ...era.strays, ...era.coins]) {
    yield importOf(world, era, contract);
    if (random.chance(options.shares.importAgain)) yield importOf(world, era, contract);
  }
  yield transaction(world, era, advanceRounds);
}

function importOf(world: World, era: Era, contract: Contract): HistoryUpdate {
  return {
    ...placed(world, era, era.synchronizers[0]!),
    wrapping: 'import',
    updateId: contract.contractId,
    recordTime: null,
    effectiveAt: contract.createdAt,
    events: numbered([{ kind: 'create', contract, acsDelta: true }]),
  };
}

/** Imports behind a migration's first update are skipped, whether their contract is known or not. */
function lateImport(world: World, era: Era): HistoryUpdate {
  const draw = { ...world, shares: world.options.shares };
  const unknown = drawCoin(draw, drawTerms(draw, era.nextRound), { createdAt: era.now, locked: false });
  const known = world.random.chance(0.5) ? era.coins.at(-1) : undefined;
  return importOf(world, era, known ?? unknown);
}
