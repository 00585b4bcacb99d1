import { z } from 'zod';
import { CONTRACT_ID_CHARS_MAX, NODE_MAX } from '../../src/decode/values.ts';
import { parseAmount } from '../../src/ledger/amount.ts';
import { NESTING_MAX } from '../../src/ledger/canonical-json.ts';
import { isPartyId } from '../../src/ledger/ledger-ids.ts';
import { parseLedgerTime } from '../../src/ledger/time.ts';

/**
 * What a feed message must look like, as zod schemas: the source of the published JSON Schemas. The readers of this folder
 * say the same in code that is several times faster, and a property test compares the two.
 */
export const text = z
  .string()
  .min(1)
  .refine((value) => value.isWellFormed());

export const contractId = text.max(CONTRACT_ID_CHARS_MAX).meta({ id: 'ContractId' });
export const synchronizerId = text.meta({ id: 'SynchronizerId' });
export const migrationId = z.int().min(0);
export const nodeId = z.int().min(0).max(NODE_MAX);

export const party = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9:\-_ ]{1,185}::[A-Za-z0-9:\-_ ]{1,68}$/)
  .refine(isPartyId)
  .meta({ id: 'Party', description: '<name>::<fingerprint>, with one "::"' });
export const parties = z.array(party).meta({ id: 'Parties' });

export const ledgerTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/)
  .refine((value) => parseLedgerTime(value) !== null)
  .meta({ id: 'LedgerTime', description: 'a UTC time in 1970-2200' });

/** A Daml Decimal has at most 28 integer and 10 fraction digits, written plainly or as Java prints it. */
const decimal = z.string().regex(/^-?[0-9]{1,60}(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,3})?$/);

const positiveDecimal = decimal.refine((value) => (parseAmount(value) ?? 0n) > 0n).meta({ id: 'PositiveDecimal' });
const rateDecimal = decimal.refine((value) => (parseAmount(value) ?? -1n) >= 0n).meta({ id: 'Rate' });

export const roundNumber = z
  .union([
    z
      .string()
      .regex(/^[0-9]{1,60}$/, { abort: true })
      .refine((value) => BigInt(value) < 2n ** 63n),
    z.int().min(0),
  ])
  .meta({ id: 'RoundNumber' });

const amuletFields = {
  dso: z.string(),
  owner: party,
  amount: z.looseObject({
    initialAmount: positiveDecimal,
    createdAt: z.looseObject({ number: roundNumber }),
    ratePerRound: z.looseObject({ rate: rateDecimal }),
  }),
};

/** Arguments are kept, and compared level by level. */
function isKeepable(value: unknown, levels = NESTING_MAX): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isKeepable(inner, levels - 1));
}

export const amuletArguments = z
  .looseObject(amuletFields)
  .refine((value) => isKeepable(value))
  .meta({ id: 'AmuletArguments' });
export const lockedAmuletArguments = z
  .looseObject({ amulet: z.looseObject(amuletFields) })
  .refine((value) => isKeepable(value))
  .meta({ id: 'LockedAmuletArguments' });
export const roundArguments = z
  .looseObject({ dso: z.string(), round: z.looseObject({ number: roundNumber }) })
  .refine((value) => isKeepable(value))
  .meta({ id: 'OpenMiningRoundArguments' });
