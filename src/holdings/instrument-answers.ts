import { jsonOrNull } from '../json/untrusted.ts';
import { formatAmount } from '../ledger/amount.ts';
import { COIN_INSTRUMENT } from '../ledger/templates.ts';
import { formatTime } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import type { HoldingsStore, ListedInstrument, OwnedInstrument, Snapshot, Supply } from './facts.ts';
import { HoldingsFault, unknownToken } from './holdings-fault.ts';
import type { InstrumentName } from './instrument.ts';
import { type Given, type PageStart, pageOf, type TableQuery, type TableQuestion } from './table-question.ts';
import { type Row, type Table, totalsFields } from './table-rows.ts';

/** The instrument of a question whose coin is not named; undefined: the coin. Throws the fault of half a name. */
export function instrumentIn({
  instrument_admin: admin = null,
  instrument_id: id = null,
}: Partial<Given<'instrument_admin' | 'instrument_id'>>): InstrumentName | undefined {
  if (admin === null && id === null) return undefined;
  if (admin !== null && id !== null) return { admin, id };
  const [missing, given] =
    admin === null ? ['instrument_admin', 'instrument_id'] : ['instrument_id', 'instrument_admin'];
  throw new HoldingsFault('wrong_parameter', `${missing}: given nothing, expected a value, because ${given} is given`);
}

/** The instrument that is named, unless it is the coin. */
export async function tokenNamed(instrument: InstrumentName | undefined, store: HoldingsStore) {
  const isCoin = instrument?.id === COIN_INSTRUMENT && instrument.admin === (await store.facts({ kind: 'dso' }));
  return isCoin ? undefined : instrument;
}

/** The same for a stream, which a first deposit of an instrument not known yet may come to. Rejects with the fault of a store without tokens. */
export async function streamedToken(instrument: InstrumentName | undefined, store: HoldingsStore) {
  const token = await tokenNamed(instrument, store);
  if (token === undefined) return undefined;
  const found = await store.facts({ kind: 'instrument', migrationId: -1, recordTime: null, instrument: token });
  if (found === 'no tokens') throw notKnown(token, `: ${NO_TOKENS}`);
  return token;
}

/** A question that names the coin in full as one that does not name it, so that both have the same answer. */
export async function withoutCoin(question: TableQuestion, store: HoldingsStore): Promise<TableQuestion> {
  const { query } = question;
  if (!('instrument_id' in query)) return question;
  const instrument = instrumentIn(query);
  if (instrument === undefined) return question;
  const token = await tokenNamed(instrument, store);
  if (token === undefined)
    return { ...question, query: { ...query, instrument_admin: null, instrument_id: null } } as TableQuestion;
  const after = 'after' in query ? query.after : null;
  if (after !== null && typeof after === 'object' && after.isOfCoin === true) {
    const expected = 'nothing, as for the page before, whose token is in "after"';
    throw new HoldingsFault('wrong_parameter', `instrument_id: given ${showGiven(token.id)}, expected ${expected}`);
  }
  return question;
}

/** What there is of an instrument at a snapshot. Rejects with the fault of one that the migration does not know. */
export async function requireInstrument(
  store: HoldingsStore,
  migrationId: number,
  instrument: InstrumentName,
  recordTime: number | null = null,
): Promise<Supply> {
  const found = await store.facts({ kind: 'instrument', migrationId, recordTime, instrument });
  if (found !== null && found !== 'no tokens') return found;
  throw notKnown(instrument, ` in migration ${migrationId}${found === null ? '' : `: ${NO_TOKENS}`}`);
}

function notKnown({ admin, id }: InstrumentName, where: string): HoldingsFault {
  return new HoldingsFault('no_instrument', `No instrument ${cut(id)} of ${cut(admin)}${where}`);
}

const NO_TOKENS =
  'no tokens are kept here, only the coin: a store in PostgreSQL never has any, nor has a data directory that began with ' +
  '--tokens off or by an older version; begin a new directory';

const ID_CHARS_MAX = 100;

function cut(text: string): string {
  return text.length <= ID_CHARS_MAX ? text : `${text.slice(0, ID_CHARS_MAX)}...`;
}

/** What proves all that a snapshot has of the coin, or of another instrument. */
export function proofOf({ digest, tokensDigest }: Snapshot, instrument: InstrumentName | undefined): string | null {
  return instrument === undefined ? digest : `${digest} ${tokensDigest}`;
}

/** Every instrument of which something was held up to a snapshot, by any owner or by one, with what there is then. Rejects with a HoldingsFault. */
export async function instrumentsTable(
  { table, query }: Extract<TableQuestion, { table: 'instruments' | 'owner instruments' }>,
  { snapshot, fixed }: { readonly snapshot: Snapshot; readonly fixed: boolean },
  store: HoldingsStore,
): Promise<Table> {
  const { limit, after } = query;
  const { migrationId, recordTime } = snapshot;
  const party = 'party' in query ? query.party : null;
  const lookup = { migrationId, recordTime, rows: limit + 1, after: nameIn(after) };
  const found: readonly (ListedInstrument | OwnedInstrument)[] =
    party === null
      ? await store.facts({ kind: 'instruments', ...lookup })
      : await store.facts({ kind: 'instruments of owner', party, ...lookup });
  const { rows, next } = pageOf(found, { table, query, migrationId, snapshot: recordTime }, nameOf);
  const [time, ofMigration] = [formatTime(recordTime), { migration_id: migrationId }];
  return {
    head:
      party === null ? { ...ofMigration, record_time: time } : { record_time: time, ...ofMigration, party_id: party },
    rowsName: 'instruments',
    rows: rows.map((each) => ('scope' in each ? listedRow(each) : ownedRow(each))),
    csvWithout: ['accounts'],
    next,
    snapshotDigest: `${snapshot.digest} ${snapshot.tokensDigest}`,
    fixed,
    about: [...(party === null ? [] : [party]), `migration ${migrationId}`, time],
  };
}

function listedRow(listed: ListedInstrument): Row {
  const { admin, id, owners, contracts, scope } = listed;
  return { admin, id, ...totalsFields(listed), owners, contracts, scope };
}

function ownedRow(owned: OwnedInstrument): Row {
  const { admin, id, contracts, accounts, accountsTotal } = owned;
  const listed = accounts.map(({ provider, accountId, unlocked, locked }) => {
    return { provider, id: accountId, unlocked: formatAmount(unlocked), locked: formatAmount(locked) };
  });
  return { admin, id, ...totalsFields(owned), contracts, accounts: listed, accounts_total: accountsTotal };
}

/** The last row of a page, by which the next one begins. */
const nameOf = ({ admin, id }: InstrumentName): string => JSON.stringify([admin, id]);

function nameIn(after: PageStart | null): InstrumentName | null {
  if (after === null) return null;
  const last = jsonOrNull(after.last);
  const [admin, id] = Array.isArray(last) ? (last as readonly unknown[]) : [];
  if (typeof admin !== 'string' || typeof id !== 'string') throw unknownToken(after);
  return { admin, id };
}

/** The holdings of a migration that cannot be read and are active now. Rejects with a HoldingsFault. */
export async function unreadableTable(query: TableQuery<'unreadable'>, store: HoldingsStore): Promise<Table> {
  const { limit, after } = query;
  const last = await store.facts({ kind: 'last migration' });
  const migrationId = Number(after?.migrationId ?? query.migration_id ?? last);
  if (last === null) throw new HoldingsFault('no_migration', 'No migrations found');
  const found = await store.facts({ kind: 'unreadable', migrationId, after: after?.last ?? null, rows: limit + 1 });
  const page = { table: 'unreadable', query, migrationId, snapshot: 0 } as const;
  const { rows, next } = pageOf(found, page, ({ contractId }) => contractId);
  return {
    head: { migration_id: migrationId },
    rowsName: 'unreadable',
    rows: rows.map(({ contractId, templateId, reason, stakeholders }) => {
      return { contract_id: contractId, template_id: templateId, reason, stakeholders };
    }),
    next,
    fixed: false,
    about: [`migration ${migrationId}`],
  };
}
