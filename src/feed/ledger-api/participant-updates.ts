import { tryDecode } from '../../decode/decode-message.ts';
import { ledgerOffsetOf } from '../../decode/values.ts';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { PACKAGE_NAME, TEMPLATES } from '../../ledger/templates.ts';
import type { Micros } from '../../ledger/time.ts';
import { AnswerFailure } from '../network/json-client.ts';
import type { LedgerApiSettings } from '../network/network-settings.ts';
import type { ImportMessage } from '../network/snapshot-import.ts';
import { failureOfElement } from './participant-errors.ts';

const { OpenMiningRound: ROUND, ...COIN_TEMPLATES } = TEMPLATES;
const COINS = Object.values(COIN_TEMPLATES);

/** The interface Holding of the token standard; both versions are asked for, because a template may implement one of them. */
const HOLDINGS = ['v2', 'v1'].map((version) => ({
  version,
  packageName: `splice-api-token-holding-${version}`,
  name: `Splice.Api.Token.Holding${version.toUpperCase()}:Holding`,
}));

/** How a participant answers where it does not know a package, template or interface of the filter; it then gives nothing at all. */
const NO_INTERFACE = 'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME';
const UNKNOWN = ['PACKAGE_NAMES_NOT_FOUND', 'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', NO_INTERFACE];

export const ROUNDS_LEFT_OUT = `the participant does not know #${PACKAGE_NAME}:${ROUND}: no open round is read of it`;

/** Which templates and interfaces of which parties are asked for. */
export class Filter {
  readonly #parties: LedgerApiSettings['parties'];
  readonly #all: typeof HOLDINGS;
  readonly #warn: (text: string) => void;
  readonly #said = new Set<string>();
  #holdings: typeof HOLDINGS = [];
  hasRounds = true;

  /** `warn`: called once for each version of Holding that the participant does not know. */
  constructor({ parties, tokens }: Pick<LedgerApiSettings, 'parties' | 'tokens'>, warn: (text: string) => void) {
    this.#parties = parties;
    this.#all = tokens ? HOLDINGS : [];
    this.#warn = warn;
    this.connecting();
  }

  /** Both versions of Holding are asked for at each connection, because their packages may have come meanwhile. */
  connecting(): void {
    this.#holdings = this.#all;
  }

  /** The format of the events in a request. */
  get eventFormat(): object {
    const includeCreatedEventBlob = false;
    const templates = [...COINS, ...(this.hasRounds ? [ROUND] : [])].map((name) => {
      const value = { templateId: `#${PACKAGE_NAME}:${name}`, includeCreatedEventBlob };
      return { identifierFilter: { TemplateFilter: { value } } };
    });
    const interfaces = this.#holdings.map(({ packageName, name }) => {
      const value = { interfaceId: `#${packageName}:${name}`, includeInterfaceView: true, includeCreatedEventBlob };
      return { identifierFilter: { InterfaceFilter: { value } } };
    });
    const cumulative = [...templates, ...interfaces];
    if (this.#parties === 'all') return { filtersForAnyParty: { cumulative }, verbose: false };
    const filtersByParty = Object.fromEntries(this.#parties.map((party) => [party, { cumulative }]));
    return { filtersByParty, verbose: false };
  }

  /**
   * After a failure because of the filter: what to do about it; null where it is not that. Holdings and rounds can be left out. Coins
   * cannot: once their package is there, those created before the next request would be missing.
   */
  correctedBy({ message, about: { code = '', context } }: AnswerFailure): 'left out' | AnswerFailure | null {
    if (!UNKNOWN.includes(code)) return null;
    const said = `${message} ${JSON.stringify(context)}`;
    if (this.#leaveOutHoldings(said, code)) return 'left out';
    if (this.hasRounds && said.includes(ROUND.split(':')[1]!) && !COINS.some((name) => said.includes(name))) {
      this.hasRounds = false;
      return 'left out';
    }
    const waiting = `the participant does not know the coins of package ${PACKAGE_NAME} yet (${message})`;
    return new AnswerFailure(waiting, { code });
  }

  /** Leaves out the versions that the participant names, or one of them where it only says that an interface is unknown. */
  #leaveOutHoldings(said: string, code: string): boolean {
    const named = this.#holdings.filter(({ packageName, name }) => said.includes(packageName) || said.includes(name));
    const unknown = named.length === 0 && code === NO_INTERFACE ? this.#holdings.slice(0, 1) : named;
    if (unknown.length === 0) return false;
    this.#holdings = this.#holdings.filter((holding) => !unknown.includes(holding));
    const names = unknown.map(({ packageName, name }) => `#${packageName}:${name}`).join(' and ');
    const [left] = this.#holdings;
    const then =
      left === undefined ? 'no token is read of it' : `holdings are read by version ${left.version.slice(1)} alone`;
    const text = `the participant does not know ${names}: ${then}`;
    if (!this.#said.has(text)) this.#warn(text);
    this.#said.add(text);
    return true;
  }
}

/** An element of a stream of updates. */
export interface Element extends ImportMessage {
  /** Null where it has none, or is bad. */
  readonly offset: number | null;
}

/** Throws AnswerFailure where the element is an error, which ends the stream. */
export function elementOf(bytes: Buffer, { url, migrationId }: { url: string; migrationId: number }): Element {
  const decoded = tryDecode(bytes, { migrationId });
  if (decoded instanceof BadUpdate) {
    const failure = failureOfElement(url, jsonOrNull(bytes.toString()));
    if (failure !== null) throw failure;
    // Its offset is no better than the rest of it.
    return { bytes, offset: null };
  }
  const known = decoded.kind === 'update' || decoded.kind === 'checkpoint' ? decoded.offset : undefined;
  return { bytes, decoded, offset: known ?? offsetIn(bytes) };
}

/** How far the ledger is known with an element; null where it says no time. */
export function recordTimeOf({ decoded }: Element): Micros | null {
  if (decoded?.kind === 'update') return decoded.recordTime;
  return decoded?.kind === 'checkpoint' ? Math.max(...decoded.times.map(({ recordTime }) => recordTime)) : null;
}

/** Of an element of a kind that is ignored. */
function offsetIn(bytes: Buffer): number | null {
  const element = jsonOrNull(bytes.toString());
  const update = isObject(element) && isObject(element.update) ? element.update : {};
  const [kind] = Object.values(update).filter(isObject);
  return isObject(kind?.value) ? ledgerOffsetOf(kind.value.offset) : null;
}
