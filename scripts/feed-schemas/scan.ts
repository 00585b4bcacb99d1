import { z } from 'zod';
import { NODE_MAX } from '../../src/decode/values.ts';
import { otherTemplate, otherViews, ourTemplate } from './template.ts';
import {
  amuletArguments,
  contractId,
  ledgerTime,
  lockedAmuletArguments,
  migrationId,
  parties,
  roundArguments,
  synchronizerId,
  text,
} from './values.ts';

/** Format A: an item of Scan's `/v2/updates`. */
const eventId = z
  .string()
  .regex(/:[0-9]{1,60}$/)
  .refine((id) => Number(id.slice(id.lastIndexOf(':') + 1)) <= NODE_MAX)
  .describe('<update id>:<node number>');

const ours = (['Amulet', 'LockedAmulet', 'OpenMiningRound'] as const).flatMap((entity) =>
  ourTemplate(entity).map(({ templateId, packageName }) => ({
    entity,
    template: { template_id: templateId, package_name: packageName },
  })),
);
const others = otherTemplate.map(({ templateId, packageName }) => ({
  template_id: templateId,
  package_name: packageName,
}));

/** What is used of any holding's create, besides what it holds. */
const holdingFields = {
  event_id: eventId,
  contract_id: contractId,
  created_at: ledgerTime,
  signatories: parties,
  observers: parties,
};

function createFields(entity: (typeof ours)[number]['entity']): z.ZodRawShape {
  if (entity === 'OpenMiningRound') {
    return { contract_id: contractId, create_arguments: roundArguments, signatories: parties };
  }
  return { ...holdingFields, create_arguments: entity === 'Amulet' ? amuletArguments : lockedAmuletArguments };
}

const createdEvents = [
  ...ours.map(({ entity, template }) => ({ ...template, ...createFields(entity) })),
  ...others.flatMap((template) => [
    { ...template, interface_views: otherViews },
    { ...template, ...holdingFields },
  ]),
];

const exercise = { event_type: z.literal('exercised_event'), child_event_ids: z.array(z.string()) };
const event = z
  .union([
    ...createdEvents.map((fields) => z.looseObject({ event_type: z.literal('created_event'), ...fields })),
    z.looseObject({ ...exercise, consuming: z.literal(false) }),
    ...ours.map(({ template }) =>
      z.looseObject({ ...exercise, consuming: z.literal(true), contract_id: contractId, ...template }),
    ),
    ...others.map((template) => z.looseObject({ ...exercise, ...template })),
  ])
  .meta({ id: 'Event' });

const transactionFields = {
  update_id: text,
  migration_id: migrationId,
  synchronizer_id: synchronizerId,
  event: z.null().optional(),
};

const transaction = z.looseObject({
  ...transactionFields,
  record_time: ledgerTime,
  root_event_ids: z.array(z.string()),
  events_by_id: z.record(z.string(), event),
});

const importUpdate = z
  .looseObject({
    ...transactionFields,
    synchronizer_id: synchronizerId.nullish(),
    created_in_update_id: text.nullish(),
    record_time: z.string().regex(/^0001-01-01T00:00:00(?:\.0{1,6})?Z$/),
    root_event_ids: z.array(z.string()).length(1),
    events_by_id: z.record(z.string(), event),
  })
  .refine(({ root_event_ids: [id], events_by_id }) => events_by_id[id!]?.event_type === 'created_event')
  .describe(
    'a contract of an older migration or, with "seed": true, of a snapshot import: one created_event and no time',
  );

const importMarker = z
  .looseObject({
    seed: z.looseObject({
      migration_id: migrationId,
      record_time: ledgerTime,
      synchronizer_times: z.array(z.looseObject({ synchronizerId, recordTime: ledgerTime })).nullish(),
      offset: z.int().min(0).nullish(),
      participant_id: z.string().nullish(),
    }),
  })
  .describe('the end of a snapshot import: the imports before it are all that is active at record_time');

const reassignmentFields = { update_id: text, record_time: ledgerTime };

const assignment = z.looseObject({
  ...reassignmentFields,
  event: z.looseObject({
    migration_id: migrationId,
    target_synchronizer: synchronizerId,
    created_event: z.union(createdEvents.map((fields) => z.looseObject(fields))),
    contract_id: z.null().optional(),
  }),
});

const unassignment = z.looseObject({
  ...reassignmentFields,
  event: z
    .looseObject({
      migration_id: migrationId,
      source_synchronizer: synchronizerId,
      target_synchronizer: synchronizerId,
      created_event: z.null().optional(),
      contract_id: z.unknown().refine((id) => id !== null && id !== undefined),
    })
    .refine(({ source_synchronizer: source, target_synchronizer: target, contract_id: id }) => {
      return source !== target || contractId.safeParse(id).success;
    })
    .describe('within one synchronizer it archives its contract_id, which must then be a contract id'),
});

export const scanMessage = z
  .union([transaction, importUpdate, assignment, unassignment, importMarker])
  .describe(
    'A feed message in the format of Scan /v2/updates. Beyond this schema, ' +
      'every event is reached exactly once from root_event_ids through child_event_ids.',
  );
