import { z } from 'zod';
import { ACCOUNTS_MAX } from '../holdings/facts.ts';
import { type INSTRUMENT, PARAMETERS } from '../holdings/table-question.ts';
import { party, snapshot, totals } from './holdings-fields.ts';
import { field, optional } from './json-operation.ts';
import { count, listOfRows, ofUpdates, tableOperation, token } from './table-operation.ts';

const instrument = {
  admin: party.meta({ description: "The instrument's admin; of the coin it is the DSO." }),
  id: z.string().meta({ description: "The admin's id for it; of the coin it is `Amulet`." }),
};

export const instruments = tableOperation({
  path: '/holdfast/v1/instruments',
  operationId: 'listInstruments',
  summary:
    'The coin and every token of which anything was held in a snapshot of the grid up to a time, by admin and id.',
  table: 'instruments',
  schema: 'Instruments',
  answer: {
    migration_id: snapshot.migration_id,
    record_time: snapshot.record_time,
    instruments: listOfRows({
      ...instrument,
      ...totals,
      owners: count('Parties that have some.'),
      contracts: count('Contracts, those without an owner too.'),
      scope: z.enum(['network', 'followed']).meta({
        description:
          'Network: the totals are the supply. Followed: they are those of the owners that a participant shows.',
      }),
    }),
    ...token,
  },
});

export const ownerInstruments = tableOperation({
  path: '/holdfast/v1/owners/{party}/instruments',
  operationId: 'listOwnerInstruments',
  summary:
    'Every instrument that an owner had in a snapshot of the grid up to a time, with the totals then, by admin and id.',
  table: 'owner instruments',
  schema: 'OwnerInstruments',
  answer: {
    ...snapshot,
    party_id: party,
    instruments: listOfRows({
      ...instrument,
      ...totals,
      contracts: count('Contracts.'),
      accounts: listOfRows({
        provider: party.nullable(),
        id: z.string(),
        unlocked: totals.unlocked,
        locked: totals.locked,
      }).meta({ description: `The ${ACCOUNTS_MAX} largest accounts, by provider (null first) and id.` }),
      accounts_total: count('Of all of them.'),
    }),
    ...token,
  },
});

export const unreadable = tableOperation({
  path: '/holdfast/v1/unreadable',
  operationId: 'listUnreadable',
  summary: 'Active contracts that show a Holding view which cannot be read, and so are in no total, by contract id.',
  table: 'unreadable',
  needsDirectory: true,
  schema: 'UnreadableHoldings',
  answer: {
    ...ofUpdates,
    unreadable: listOfRows({
      contract_id: z.string(),
      template_id: z.string(),
      reason: z.string(),
      stakeholders: z.array(party).meta({ description: 'Signatories and observers, in order.' }),
    }),
    ...token,
  },
});

export function givenInstrument(name: (typeof INSTRUMENT)[number]) {
  const { parse, expected, schema, description } = PARAMETERS[name];
  const read = field((given) => (typeof given === 'string' ? parse(given) : null), expected, schema);
  return optional(read, { description });
}
