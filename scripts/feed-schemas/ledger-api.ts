import { z } from 'zod';
import { otherTemplate, otherViews, ourTemplate } from './template.ts';
import {
  amuletArguments,
  contractId,
  ledgerTime,
  lockedAmuletArguments,
  nodeId,
  parties,
  roundArguments,
  synchronizerId,
  text,
} from './values.ts';

/** Format B: an item of the JSON Ledger API's `/v2/updates`, or the value of a transaction alone. */
const acsDelta = z.literal(true).nullish();
const notOnActiveSet = z.looseObject({ acsDelta: z.literal(false) });

const ours = (['Amulet', 'LockedAmulet', 'OpenMiningRound'] as const).flatMap((entity) =>
  ourTemplate(entity).map((template) => ({ entity, template })),
);
const others = otherTemplate.map((template) => z.looseObject({ ...template }));

/** What is used of any holding's create, besides what it holds. */
const holdingFields = { nodeId, contractId, createdAt: ledgerTime, signatories: parties, observers: parties, acsDelta };

function createFields(entity: (typeof ours)[number]['entity']): z.ZodRawShape {
  if (entity === 'OpenMiningRound')
    return { contractId, createArgument: roundArguments, signatories: parties, acsDelta };
  return { ...holdingFields, createArgument: entity === 'Amulet' ? amuletArguments : lockedAmuletArguments };
}

const createdEvent = z
  .union([
    notOnActiveSet,
    ...ours.map(({ entity, template }) => z.looseObject({ ...template, ...createFields(entity) })),
    ...otherTemplate.flatMap((template) => [
      z.looseObject({ ...template, interfaceViews: otherViews }),
      z.looseObject({ ...template, ...holdingFields }),
    ]),
  ])
  .meta({ id: 'CreatedEvent' });

const archivedEvent = z
  .union([
    notOnActiveSet,
    ...ours.map(({ template }) => z.looseObject({ ...template, contractId, acsDelta })),
    ...others,
  ])
  .meta({ id: 'ArchivedEvent' });

const exercisedEvent = z
  .union([
    notOnActiveSet,
    z.looseObject({ consuming: z.literal(false) }),
    ...ours.map(({ template }) => z.looseObject({ ...template, consuming: z.literal(true), contractId, acsDelta })),
    ...others,
  ])
  .meta({ id: 'ExercisedEvent' });

const anything = z.unknown().refine((value) => value !== null && value !== undefined);

/** An object that has one of several keys, the others being null or missing. */
function oneOf<Name extends string>(kinds: Readonly<Record<Name, z.ZodType>>): z.ZodType {
  const names = Object.keys(kinds) as Name[];
  const options = names.map((name) => {
    const absent: Record<string, z.ZodType> = Object.fromEntries(names.map((other) => [other, z.null().optional()]));
    return z.looseObject({ ...absent, [name]: kinds[name] });
  });
  return z.union(options);
}

const transaction = z
  .looseObject({
    updateId: text,
    recordTime: ledgerTime,
    synchronizerId,
    events: z.array(
      oneOf({ CreatedEvent: createdEvent, ArchivedEvent: archivedEvent, ExercisedEvent: exercisedEvent }),
    ),
  })
  .meta({ id: 'Transaction' });

const importUpdate = z
  .looseObject({
    updateId: text,
    recordTime: z.string().regex(/^0001-01-01T00:00:00(?:\.0{1,6})?Z$/),
    synchronizerId,
    events: z.array(
      z.looseObject({
        CreatedEvent: createdEvent,
        ArchivedEvent: z.null().optional(),
        ExercisedEvent: z.null().optional(),
      }),
    ),
  })
  .meta({ id: 'Import', description: 'contracts brought from an older migration: creates alone, and no time' });

const unassigned = z
  .looseObject({ source: synchronizerId, target: synchronizerId })
  .refine((event) => event.source !== event.target || archivedEvent.safeParse(event).success)
  .describe('within one synchronizer it archives its contract, and must have the fields of an ArchivedEvent');

const reassignment = z.looseObject({
  updateId: text,
  recordTime: ledgerTime,
  synchronizerId,
  events: z.array(
    oneOf({
      JsAssignmentEvent: z.looseObject({ createdEvent }),
      JsUnassignedEvent: z.looseObject({ value: unassigned }),
    }),
  ),
});

const checkpoint = z.looseObject({
  synchronizerTimes: z.array(z.looseObject({ synchronizerId, recordTime: ledgerTime })),
});

const knownUpdate = oneOf({
  Transaction: z.looseObject({ value: z.union([transaction, importUpdate]) }),
  Reassignment: z.looseObject({ value: reassignment }),
  OffsetCheckpoint: z.looseObject({ value: checkpoint }),
  TopologyTransaction: anything,
});

const KNOWN = ['Transaction', 'Reassignment', 'OffsetCheckpoint', 'TopologyTransaction'];
const unknownUpdate = z
  .record(z.string(), z.unknown())
  .refine((update) => {
    const [name, ...more] = Object.keys(update).filter((key) => update[key] !== null);
    return name !== undefined && more.length === 0 && /^[A-Z]/.test(name) && !KNOWN.includes(name);
  })
  .describe('one key that names a kind of update not known yet: ignored and counted');

export const ledgerApiMessage = z
  .union([z.looseObject({ update: z.union([knownUpdate, unknownUpdate]) }), transaction, importUpdate])
  .describe('A feed message in the format of the JSON Ledger API /v2/updates, or a bare Transaction value.');
