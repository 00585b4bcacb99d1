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

/** How a participant answers where it does not know a package or template of the filter; it then gives nothing at all. */
const UNKNOWN = ['PACKAGE_NAMES_NOT_FOUND', 'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME'];

export const ROUNDS_LEFT_OUT = `the participant does not know #${PACKAGE_NAME}:${ROUND}: no open round is read of it`;

/** Which templates of which parties are asked for. */
export class Filter {
  readonly #parties: LedgerApiSettings['parties'];
  hasRounds = true;

  constructor(parties: LedgerApiSettings['parties']) {
    this.#parties = parties;
  }

  /** The format of the events in a request. */
  get eventFormat(): object {
    const cumulative = [...COINS, ...(this.hasRounds ? [ROUND] : [])].map((name) => {
      const value = { templateId: `#${PACKAGE_NAME}:${name}`, includeCreatedEventBlob: false };
      return { identifierFilter: { TemplateFilter: { value } } };
    });
    if (this.#parties === 'all') return { filtersForAnyParty: { cumulative }, verbose: false };
    const filtersByParty = Object.fromEntries(this.#parties.map((party) => [party, { cumulative }]));
    return { filtersByParty, verbose: false };
  }

  /**
   * After a failure because of the filter: what to do about it; null where it is not that. Rounds can be left out. Coins cannot:
   * once their package is there, those created before the next request would be missing.
   */
  correctedBy({ message, about: { code = '', context } }: AnswerFailure): 'without rounds' | AnswerFailure | null {
    if (!UNKNOWN.includes(code)) return null;
    const said = `${message} ${JSON.stringify(context)}`;
    if (this.hasRounds && said.includes(ROUND.split(':')[1]!) && !COINS.some((name) => said.includes(name))) {
      this.hasRounds = false;
      return 'without rounds';
    }
    const waiting = `the participant does not know the coins of package ${PACKAGE_NAME} yet (${message})`;
    return new AnswerFailure(waiting, { code });
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
