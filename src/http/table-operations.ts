import { z } from 'zod';
import { MOVEMENT_KINDS } from '../holdings/movement-facts.ts';
import type { TableName } from '../holdings/table-question.ts';
import { amount, int64, party, snapshot, time, totals } from './holdings-fields.ts';
import type { OperationFacts } from './json-operation.ts';

/** An operation that answers with a table, which determines the parameters. The area's other one is the stream. */
export interface TableOperation extends OperationFacts {
  readonly table: TableName;
  /** The answer in JSON. The `id` in its meta is its name in the document. */
  readonly answer: z.ZodType;
}

const migration = { migration_id: int64('The migration of the snapshots.', 4) };

const ofUpdates = { migration_id: int64('The migration of the updates.', 4) };

const count = (description: string) => z.int().nonnegative().meta({ description });

const token = {
  next_page_token: z.union([z.string(), z.null()]).meta({
    description:
      'Give it as `after` for the next page; it is valid for ever, of movements in its own directory. Null at the end.',
  }),
};

const contracts = { contracts: count('Coins.') };

const digest = (what: string) =>
  z
    .union([z.string().regex(/^[0-9a-f]{64}$/), z.null()])
    .meta({ description: `${what}, as a SHA-256: equal where two replicas hold the same. Null where it was forced.` });

const at = { record_time: time('The time of the snapshot.'), ...totals, ...contracts };

const movementsSince = z.union([time('Movements are kept from that counted time on.'), z.null()]).meta({
  description: 'Null where they are kept from the beginning.',
});

export const snapshots = {
  method: 'GET',
  path: '/holdfast/v1/snapshots',
  operationId: 'listSnapshots',
  summary: 'The snapshots of a migration, with the supply at each.',
  table: 'snapshots',
  answer: z
    .strictObject({
      ...migration,
      period: z.string().meta({ description: 'The time between two snapshots of the grid.', examples: ['10m'] }),
      dso: z.union([party, z.null()]).meta({ description: 'Whose coins count; null until one is known.' }),
      seeded_at: z.union([time('When the views began with the active contracts of a node.'), z.null()]),
      movements_since: movementsSince,
      snapshots: z.array(
        z.strictObject({
          record_time: time('The time of the snapshot.'),
          forced: z.boolean().meta({ description: 'Whether somebody asked for it; it lies outside of the grid then.' }),
          owners: count('Owners with coin.'),
          ...contracts,
          unlocked: amount('The unlocked supply.'),
          locked: amount('The locked supply.'),
          total: amount('Both together.'),
          changes_digest: digest('What changed since the snapshot of the grid before it'),
          digest: digest('All that changed up to it'),
        }),
      ),
      ...token,
    })
    .meta({ id: 'Snapshots' }),
} satisfies TableOperation;

export const owners = {
  method: 'GET',
  path: '/holdfast/v1/owners',
  operationId: 'listOwners',
  summary: 'Every owner who had coin in a snapshot of the grid up to a time, with the totals then, by party id.',
  table: 'owners',
  answer: z
    .strictObject({
      ...snapshot,
      owners: z.array(z.strictObject({ party_id: party, ...totals, ...contracts })),
      ...token,
    })
    .meta({ id: 'Owners' }),
} satisfies TableOperation;

export const history = {
  method: 'GET',
  path: '/holdfast/v1/owners/{party}/history',
  operationId: 'getOwnerHistory',
  summary:
    "An owner's totals at points in time: at most 5000, and at most 1000 where `every` is not given. The last is the newest snapshot in the range.",
  table: 'history',
  answer: z
    .strictObject({
      ...migration,
      party_id: party,
      every: z.string().meta({ description: 'The time between two points.', examples: ['1h'] }),
      points: z.array(
        z.strictObject({
          ...at,
          partial: z.literal(true).optional().meta({
            description: 'Only of the last point, where its time is no multiple of `every`.',
          }),
        }),
      ),
    })
    .meta({ id: 'OwnerHistory' }),
} satisfies TableOperation;

export const changes = {
  method: 'GET',
  path: '/holdfast/v1/owners/{party}/changes',
  operationId: 'listOwnerChanges',
  summary:
    "The snapshots of the grid at which an owner's totals or number of coins differ from those of the one before.",
  table: 'changes',
  answer: z
    .strictObject({
      ...migration,
      party_id: party,
      changes: z.array(
        z.strictObject({
          ...at,
          change_unlocked: amount('Against the snapshot of the grid before it; may be negative.'),
          change_locked: amount('The same of locked coin.'),
          change_total: amount('Both together.'),
        }),
      ),
      ...token,
    })
    .meta({ id: 'OwnerChanges' }),
} satisfies TableOperation;

export const top = {
  method: 'GET',
  path: '/holdfast/v1/top',
  operationId: 'listTopOwners',
  summary: 'The owners with coin at a snapshot, the largest first; equal ones by party id.',
  table: 'top',
  answer: z
    .strictObject({
      ...snapshot,
      by: z.enum(['total', 'unlocked', 'locked']),
      owners_total: count('Owners with coin.'),
      total: amount('The supply.'),
      owners: z.array(
        z.strictObject({
          rank: z.int().positive(),
          party_id: party,
          ...totals,
          share: amount('The amount that owners are ordered by, as a part of the supply; rounded half up.'),
        }),
      ),
      ...token,
    })
    .meta({ id: 'TopOwners' }),
} satisfies TableOperation;

const signed = (what: string) => amount(`${what}; may be negative.`);

export const movementAnswer = z
  .strictObject({
    record_time: time("The update's."),
    counted_at: time('When it counts: a snapshot has what counts at its time or before. It never falls in feed order.'),
    update_id: z.string(),
    kind: z.enum(MOVEMENT_KINDS).meta({ description: 'By the change of the total; where that is 0, of locked coin.' }),
    change_unlocked: signed('What the update changed'),
    change_locked: signed('The same of locked coin'),
    change_total: signed('Both together'),
    unlocked: amount('After it.'),
    locked: amount('After it.'),
    total: amount('After it.'),
    others: z.array(z.strictObject({ party_id: party, change_total: signed('The change of its total') })).meta({
      description: 'The first ten of the other owners whose totals the update changed, the largest change first.',
    }),
    others_count: count('Of all of them.'),
    minted: z.union([amount('What the update added to the supply.'), z.null()]),
    burned: z.union([amount('What it took from the supply.'), z.null()]),
    legs: z
      .union([
        z.array(
          z.strictObject({
            side: z.enum(['sender', 'receiver']),
            counterparty: z.union([z.string(), z.null()]),
            amount: amount('Of the transfer.'),
            reason: z.union([z.string(), z.null()]),
          }),
        ),
        z.null(),
      ])
      .meta({ description: 'What the ledger says of it; null where it says nothing.' }),
  })
  .meta({ id: 'Movement' });

export const movements = {
  method: 'GET',
  path: '/holdfast/v1/owners/{party}/movements',
  operationId: 'listOwnerMovements',
  summary: 'What moved of an owner, update by update: `from` and `to` are any times, by which updates count.',
  table: 'movements',
  needsDirectory: true,
  answer: z
    .strictObject({
      ...ofUpdates,
      party_id: party,
      movements_since: movementsSince,
      movements: z.array(movementAnswer),
      ...token,
    })
    .meta({ id: 'OwnerMovements' }),
} satisfies TableOperation;

export const balance = {
  method: 'GET',
  path: '/holdfast/v1/owners/{party}',
  operationId: 'getOwnerBalance',
  summary: 'What an owner has at any time, or now, with the updates of the open interval.',
  table: 'balance',
  needsDirectory: true,
  answer: z
    .strictObject({
      party_id: party,
      ...ofUpdates,
      at: time('The time asked for, else the time reached.'),
      applied_to: time('The time reached.'),
      ...totals,
      contracts: z.union([count('Coins.'), z.null()]).meta({ description: 'Coins. Null between two snapshots.' }),
      snapshot: z.union([time('The newest snapshot up to that time.'), z.null()]),
      movements_since_snapshot: z.union([count('Movements after that snapshot.'), z.null()]).meta({
        description: 'The movements after that snapshot. Null where the first of them are not kept.',
      }),
    })
    .meta({ id: 'OwnerBalance' }),
} satisfies TableOperation;

export const statement = {
  method: 'GET',
  path: '/holdfast/v1/owners/{party}/statement',
  operationId: 'getOwnerStatement',
  summary: 'What an owner received and sent in each period, which has what counts after its `from` and up to its `to`.',
  table: 'statement',
  needsDirectory: true,
  answer: z
    .strictObject({
      ...ofUpdates,
      party_id: party,
      movements_since: movementsSince,
      every: z.string().meta({ description: 'The length of a period.', examples: ['1d'] }),
      periods: z.array(
        z.strictObject({
          from: time('Where it begins: what counts then is in the opening.'),
          to: time('Where it ends.'),
          opening: amount('The total at `from`: the closing of the period before.'),
          received: amount('Of updates that raised the total.'),
          sent: amount('Of updates that lowered it.'),
          locked_change: signed('The change of locked coin'),
          closing: amount('The opening, with what was received and without what was sent.'),
          movements: count('Updates that changed what the owner has.'),
          average_total: amount('The total on average over time; rounded half up.'),
          minted: z.union([amount('Of what was received, what the supply gained.'), z.null()]),
          burned: z.union([amount('Of what was sent, what the supply lost.'), z.null()]),
        }),
      ),
    })
    .meta({ id: 'OwnerStatement' }),
} satisfies TableOperation;

export const allMovements = {
  method: 'GET',
  path: '/holdfast/v1/movements',
  operationId: 'listMovements',
  summary: 'What moved of all owners, the last updates first; of an update, the largest changes first.',
  table: 'all movements',
  needsDirectory: true,
  answer: z
    .strictObject({
      ...ofUpdates,
      movements_since: movementsSince,
      movements: z.array(z.strictObject({ party_id: party, ...movementAnswer.shape })),
      ...token,
    })
    .meta({ id: 'Movements' }),
} satisfies TableOperation;

export const locks = {
  method: 'GET',
  path: '/holdfast/v1/owners/{party}/locks',
  operationId: 'listOwnerLocks',
  summary:
    'The locked coins of an owner at a snapshot, in the order in which they unlock. Judged at its time, not by the clock.',
  table: 'locks',
  needsDirectory: true,
  answer: z
    .strictObject({
      ...snapshot,
      party_id: party,
      unlocking: z
        .strictObject({
          '1d': amount('Of the locks that expire within a day after the snapshot.'),
          '7d': amount('Within seven days.'),
          '30d': amount('Within 30 days.'),
        })
        .meta({ description: 'What unlocks soon; each contains the one before. Expired locks are in none.' }),
      locks: z.array(
        z.strictObject({
          contract_id: z.string(),
          amount: amount('The initial amount.'),
          expires_at: z.union([time('When the lock expires.'), z.null()]),
          holders: z.array(party),
          context: z.union([z.string(), z.null()]).meta({ description: 'What the lock is for (optContext).' }),
          created_at: time('When the contract was created.'),
          expired: z
            .boolean()
            .meta({ description: 'Whether it had expired at the snapshot. The coin is still locked.' }),
        }),
      ),
      ...token,
    })
    .meta({ id: 'OwnerLocks' }),
} satisfies TableOperation;

/** Every table of the area: routes, requests, the document and the names in /metrics follow from this list. */
export const TABLE_OPERATIONS: readonly TableOperation[] = [
  snapshots,
  owners,
  history,
  changes,
  top,
  movements,
  balance,
  statement,
  allMovements,
  locks,
];
