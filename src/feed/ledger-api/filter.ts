import { PACKAGE_NAME, TEMPLATES } from '../../ledger/templates.ts';
import { AnswerFailure } from '../network/failure.ts';
import type { LedgerApiSettings } from './settings.ts';

const { OpenMiningRound: ROUND, ...COIN_TEMPLATES } = TEMPLATES;
const COINS = Object.values(COIN_TEMPLATES);

/** What a participant says where a package or template of the filter is not known to it; it then answers nothing at all. */
const UNKNOWN = ['PACKAGE_NAMES_NOT_FOUND', 'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME'];

export const ROUNDS_LEFT_OUT = `the participant does not know #${PACKAGE_NAME}:${ROUND}: no open round is read of it`;

/** What is asked of a participant: which templates of which parties. */
export class Filter {
  readonly #parties: LedgerApiSettings['parties'];
  #hasRounds = true;

  constructor(parties: LedgerApiSettings['parties']) {
    this.#parties = parties;
  }

  get hasRounds(): boolean {
    return this.#hasRounds;
  }

  /** The format of the events in a request. */
  get eventFormat(): object {
    const templates = this.#hasRounds ? [...COINS, ROUND] : COINS;
    const cumulative = templates.map((name) => {
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
  correctedBy({ message, about: { code, context } }: AnswerFailure): 'without rounds' | AnswerFailure | null {
    if (code === null || !UNKNOWN.includes(code)) return null;
    const said = `${message} ${JSON.stringify(context)}`;
    if (this.#hasRounds && said.includes(ROUND.split(':')[1]!) && !COINS.some((name) => said.includes(name))) {
      this.#hasRounds = false;
      return 'without rounds';
    }
    const waiting = `the participant does not know the coins of package ${PACKAGE_NAME} yet (${message})`;
    return new AnswerFailure(waiting, { code });
  }
}
