import { z } from 'zod';
import { BALANCE_OWNERS_MAX, BALANCE_TIMES_MAX } from '../holdings/balance-answers.ts';
import { MOVEMENT_KINDS } from '../holdings/movement-facts.ts';
import { amount, givenInt64, givenParty, givenTime, listOf, party, snapshot, time, totals } from './holdings-fields.ts';
import { givenInstrument, instruments, ownerInstruments, unreadable } from './instrument-operations.ts';
import { type ExampleValues, optional } from './json-operation.ts';
import {
  at,
  contracts,
  count,
  digest,
  listOfRows,
  migration,
  movementsSince,
  ofUpdates,
  type TableOperation,
  tableOperation,
  token,
} from './table-operation.ts';

export const snapshots = tableOperation({
  path: '/holdfast/v1/snapshots',
  operationId: 'listSnapshots',
  summary: 'The snapshots of a migration, with the supply at each.',
  table: 'snapshots',
  schema: 'Snapshots',
  answer: {
    ...migration,
    period: z.string().meta({ description: 'The time between two snapshots of the grid.', examples: ['10m'] }),
    dso: party.nullable().meta({ description: 'Whose coins count; null until one is known.' }),
    seeded_at: time('When the views began with the active contracts of a node.').nullable(),
    movements_since: movementsSince,
    snapshots: listOfRows({
      record_time: time('The time of the snapshot.'),
      forced: z.boolean().meta({ description: 'Whether somebody asked for it; it lies outside of the grid then.' }),
      owners: count('Owners with coin.'),
      ...contracts,
      unlocked: amount('The unlocked supply.'),
      locked: amount('The locked supply.'),
      total: amount('Both together.'),
      changes_digest: digest('What changed since the snapshot of the grid before it'),
      digest: digest('All that changed up to it'),
      tokens_changes_digest: digest('The same as `changes_digest` of all tokens, without the coin'),
      tokens_digest: digest('All tokens that changed up to it'),
    }),
    ...token,
  },
});

export const owners = tableOperation({
  path: '/holdfast/v1/owners',
  operationId: 'listOwners',
  summary: 'Every owner who had coin in a snapshot of the grid up to a time, with the totals then, by party id.',
  table: 'owners',
  schema: 'Owners',
  answer: { ...snapshot, owners: listOfRows({ party_id: party, ...totals, ...contracts }), ...token },
});

export const history = tableOperation({
  path: '/holdfast/v1/owners/{party}/history',
  operationId: 'getOwnerHistory',
  summary:
    "An owner's totals at points in time: at most 5000, and at most 1000 where `every` is not given. The last is the newest snapshot in the range.",
  table: 'history',
  schema: 'OwnerHistory',
  answer: {
    ...migration,
    party_id: party,
    every: z.string().meta({ description: 'The time between two points.', examples: ['1h'] }),
    points: listOfRows({
      ...at,
      partial: z.literal(true).optional().meta({
        description: 'Only of the last point, where its time is no multiple of `every`.',
      }),
    }),
  },
});

export const changes = tableOperation({
  path: '/holdfast/v1/owners/{party}/changes',
  operationId: 'listOwnerChanges',
  summary:
    "The snapshots of the grid at which an owner's totals or number of coins differ from those of the one before.",
  table: 'changes',
  schema: 'OwnerChanges',
  answer: {
    ...migration,
    party_id: party,
    changes: listOfRows({
      ...at,
      change_unlocked: amount('Against the snapshot of the grid before it; may be negative.'),
      change_locked: amount('The same of locked coin.'),
      change_total: amount('Both together.'),
    }),
    ...token,
  },
});

export const top = tableOperation({
  path: '/holdfast/v1/top',
  operationId: 'listTopOwners',
  summary: 'The owners with coin at a snapshot, the largest first; equal ones by party id.',
  table: 'top',
  schema: 'TopOwners',
  answer: {
    ...snapshot,
    by: z.enum(['total', 'unlocked', 'locked']),
    owners_total: count('Owners with coin.'),
    total: amount('The supply.'),
    owners: listOfRows({
      rank: z.int().positive(),
      party_id: party,
      ...totals,
      share: amount('The amount that owners are ordered by, as a part of the supply; rounded half up.'),
    }),
    ...token,
  },
});

const account = {
  provider: party.nullable().optional().meta({ description: "Of a token: the account's provider; null for none." }),
  account_id: z.string().optional().meta({ description: "Of a token: the account's id." }),
};

const signed = (what: string) => amount(`${what}; may be negative.`);

export const movementAnswer = z
  .strictObject({
    record_time: time("The update's."),
    counted_at: time('When it counts: a snapshot has what counts at its time or before. It never falls in feed order.'),
    update_id: z.string(),
    ...account,
    kind: z.enum(MOVEMENT_KINDS).meta({ description: 'By the change of the total; where that is 0, of locked coin.' }),
    change_unlocked: signed('What the update changed'),
    change_locked: signed('The same of locked coin'),
    change_total: signed('Both together'),
    unlocked: amount('After it.'),
    locked: amount('After it.'),
    total: amount('After it.'),
    others: listOfRows({
      party_id: party.nullable(),
      ...account,
      change_total: signed('The change of its total'),
    }).meta({
      description: 'The first ten of the other owners whose totals the update changed, the largest change first.',
    }),
    others_count: count('Of all of them.'),
    minted: amount('What the update added to the supply.').nullable(),
    burned: amount('What it took from the supply.').nullable(),
    legs: listOfRows({
      side: z.enum(['sender', 'receiver']),
      counterparty: z.string().nullable(),
      amount: amount('Of the transfer.'),
      reason: z.string().nullable(),
    })
      .nullable()
      .meta({ description: 'What the ledger says of it; null where it says nothing.' }),
  })
  .meta({ id: 'Movement' });

export const movements = tableOperation({
  path: '/holdfast/v1/owners/{party}/movements',
  operationId: 'listOwnerMovements',
  summary: 'What moved of an owner, update by update: `from` and `to` are any times, by which updates count.',
  table: 'movements',
  needsDirectory: true,
  schema: 'OwnerMovements',
  answer: {
    ...ofUpdates,
    party_id: party,
    movements_since: movementsSince,
    movements: z.array(movementAnswer),
    ...token,
  },
});

const balance = tableOperation({
  path: '/holdfast/v1/owners/{party}',
  operationId: 'getOwnerBalance',
  summary: 'What an owner has at any time, or now, with the updates of the open interval.',
  table: 'balance',
  needsDirectory: true,
  schema: 'OwnerBalance',
  answer: {
    party_id: party,
    ...ofUpdates,
    at: time('The time asked for, else the time reached.'),
    applied_to: time('The time reached.'),
    ...totals,
    contracts: count('Coins.').nullable().meta({ description: 'Coins. Null between two snapshots.' }),
    snapshot: time('The newest snapshot up to that time.').nullable(),
    movements_since_snapshot: count('Movements after that snapshot.').nullable().meta({
      description: 'The movements after that snapshot. Null where the first of them are not kept.',
    }),
  },
});

export const statement = tableOperation({
  path: '/holdfast/v1/owners/{party}/statement',
  operationId: 'getOwnerStatement',
  summary: 'What an owner received and sent in each period, which has what counts after its `from` and up to its `to`.',
  table: 'statement',
  needsDirectory: true,
  schema: 'OwnerStatement',
  answer: {
    ...ofUpdates,
    party_id: party,
    movements_since: movementsSince,
    every: z.string().meta({ description: 'The length of a period.', examples: ['1d'] }),
    periods: listOfRows({
      from: time('Where it begins: what counts then is in the opening.'),
      to: time('Where it ends.'),
      opening: amount('The total at `from`: the closing of the period before.'),
      received: amount('Of updates that raised the total.'),
      sent: amount('Of updates that lowered it.'),
      locked_change: signed('The change of locked coin'),
      closing: amount('The opening, with what was received and without what was sent.'),
      movements: count('Updates that changed what the owner has.'),
      average_total: amount('The total on average over time; rounded half up.'),
      minted: amount('Of what was received, what the supply gained.').nullable(),
      burned: amount('Of what was sent, what the supply lost.').nullable(),
    }),
  },
});

export const allMovements = tableOperation({
  path: '/holdfast/v1/movements',
  operationId: 'listMovements',
  summary: 'What moved of all owners, the last updates first; of an update, the largest changes first.',
  table: 'all movements',
  needsDirectory: true,
  schema: 'Movements',
  answer: {
    ...ofUpdates,
    movements_since: movementsSince,
    movements: listOfRows({
      party_id: party.nullable().meta({ description: 'Null where the account of a token has no owner.' }),
      ...movementAnswer.shape,
    }),
    ...token,
  },
});

const found = tableOperation({
  path: '/holdfast/v1/ids/{id}',
  operationId: 'findById',
  summary:
    'What has an id on the ledger: the accounts that the newest such update moved, or the account of a contract. All ids are looked through.',
  table: 'found',
  needsDirectory: true,
  schema: 'Found',
  answer: {
    id: z.string(),
    found: listOfRows({
      kind: z.enum(['update', 'contract']),
      ...ofUpdates,
      record_time: time('When the update was recorded, or the contract created.'),
      snapshot: time('The newest snapshot that has the contract.').nullable().meta({
        description: 'The newest snapshot that has the contract. Null where none does, and for an update.',
      }),
      party_id: party.nullable().meta({ description: 'Null where the account of a token has no owner.' }),
      instrument_admin: party,
      instrument_id: z.string(),
      ...account,
      unlocked: signed('What the update changed, or the contract has'),
      locked: signed('The same of locked coin'),
      total: signed('Both together'),
    }),
  },
});

export const locks = tableOperation({
  path: '/holdfast/v1/owners/{party}/locks',
  operationId: 'listOwnerLocks',
  summary:
    'The locked coins of an owner at a snapshot, in the order in which they unlock. Judged at its time, not by the clock.',
  table: 'locks',
  needsDirectory: true,
  schema: 'OwnerLocks',
  answer: {
    ...snapshot,
    party_id: party,
    unlocking: z
      .strictObject({
        '1d': amount('Of the locks that expire within a day after the snapshot.'),
        '7d': amount('Within seven days.'),
        '30d': amount('Within 30 days.'),
      })
      .meta({ description: 'What unlocks soon; each contains the one before. Expired locks are in none.' }),
    locks: listOfRows({
      contract_id: z.string(),
      amount: amount('The initial amount.'),
      expires_at: time('When the lock expires.').nullable(),
      holders: z.array(party),
      context: z.string().nullable().meta({ description: 'What the lock is for (optContext).' }),
      created_at: time('When the contract was created.'),
      expired: z.boolean().meta({ description: 'Whether it had expired at the snapshot. The coin is still locked.' }),
    }),
    ...token,
  },
});

function balancesRequest() {
  return {
    fields: z.strictObject({
      migration_id: optional(givenInt64, { description: 'The newest migration that has an update unless given.' }),
      instrument_admin: givenInstrument('instrument_admin'),
      instrument_id: givenInstrument('instrument_id'),
      at: listOf(givenTime(), { max: BALANCE_TIMES_MAX, items: 'a time' }),
      owners: listOf(givenParty, { max: BALANCE_OWNERS_MAX, items: 'a party id' }),
    }),
    example: ({ migrationId, recordTime, owner }: ExampleValues) => ({
      migration_id: migrationId,
      at: [recordTime],
      owners: [owner],
    }),
  };
}

/** The only one of the area that is no GET: it is about more than fits an address. */
export const balances: TableOperation = tableOperation({
  path: '/holdfast/v1/balances',
  operationId: 'getBalances',
  summary: 'What owners have at any times: for each time in the order asked, each owner in the order asked.',
  table: 'balances',
  needsDirectory: true,
  request: balancesRequest(),
  schema: 'Balances',
  answer: { ...ofUpdates, balances: listOfRows({ at: time('The time asked for.'), party_id: party, ...totals }) },
});

/** Every table of the area that is asked for by a GET: routes, requests, the document and the names in /metrics follow from this list. */
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
  instruments,
  ownerInstruments,
  unreadable,
  found,
];
