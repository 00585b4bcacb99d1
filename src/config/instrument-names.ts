import { z } from 'zod';
import { jsonOrNull } from '../json/untrusted.ts';
import { HOLDING_ID_EXPECTED, isHoldingId, isPartyId, PARTY_EXPECTED } from '../ledger/ledger-ids.ts';
import { readNamed } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { optionName } from '../setting-kinds.ts';
import { showGiven } from '../show-given.ts';

const FILE_BYTES_MAX = 2 ** 20;
const INSTRUMENTS_MAX = 1_000;
/** As many as amounts have. */
const DECIMALS_MAX = 10;

const shown = (charsMax: number) => z.string().regex(new RegExp(`^\\P{C}{1,${charsMax}}$`, 'u'));
const SCHEMA = z
  .array(
    z.strictObject({
      admin: z.string().refine(isPartyId, PARTY_EXPECTED),
      id: z.string().refine(isHoldingId, HOLDING_ID_EXPECTED),
      symbol: shown(20),
      name: shown(100),
      decimals: z.int().min(0).max(DECIMALS_MAX),
    }),
  )
  .max(INSTRUMENTS_MAX);

/** What people call an instrument, and how many decimals they see: the registry's business, so no answer of the API depends on it. */
export type InstrumentName = z.output<typeof SCHEMA>[number];

/** Those of `--instruments`; none where it is not given. Throws a Refusal. */
export function readInstrumentNames(file: string | null): readonly InstrumentName[] {
  if (file === null) return [];
  const refuse = (what: string): never => {
    throw new Refusal(`${optionName('instruments')}: ${file}: ${what}`);
  };
  const bytes = readNamed(optionName('instruments'), file);
  if (bytes.length > FILE_BYTES_MAX) refuse(`has ${bytes.length} bytes, and at most ${FILE_BYTES_MAX} are read`);
  const given = jsonOrNull(bytes.toString()) ?? refuse('is not JSON');
  const { data, error } = SCHEMA.safeParse(given);
  if (error !== undefined) {
    const [{ path, message }] = error.issues as [z.core.$ZodIssue];
    return refuse(`${path.length === 0 ? 'not as expected' : path.join('.')}: ${message}; expected ${EXPECTED}`);
  }
  const keys = data.map(({ admin, id }) => `${admin}\n${id}`);
  const twice = data.find((_, i) => keys.indexOf(keys[i]!) !== i);
  return twice === undefined ? data : refuse(`has ${showGiven(twice.id)} of ${twice.admin} twice`);
}

const EXPECTED = `a list of at most ${INSTRUMENTS_MAX} {"admin", "id", "symbol", "name", "decimals"}`;
