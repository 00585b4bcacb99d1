import { AnswerFailure } from '../network/answer-failure.ts';

/** The largest page that a Scan gives, unless its operator has set another. */
export const PAGE_SIZE_MAX = 1000;
/** A Scan under load may refuse a large page a few times; the pauses between so many are about a minute. */
const REFUSALS_MAX = 8;

/** How many elements to ask a Scan for at once: fewer where it says that so many are too many, or take too long. */
export class PageSize {
  readonly #usual: number;
  #max = PAGE_SIZE_MAX;
  #now: number;
  /** A page of this size does not get any further. */
  #tooSmall = 0;
  /** How often in a row the larger page was refused. */
  #refusals = 0;

  constructor(usual: number) {
    this.#usual = usual;
    this.#now = usual;
  }

  /** Reading went on from where a larger page may have been needed. */
  movedOn(): void {
    this.#tooSmall = 0;
    this.#refusals = 0;
  }

  reset(): void {
    this.movedOn();
    this.#now = Math.min(this.#usual, this.#max);
  }

  /** False where it is as large as it may be. */
  grow(): boolean {
    if (this.#now >= this.#max) return false;
    this.#tooSmall = this.#now;
    this.#now = Math.min(this.#now * 2, this.#max);
    return true;
  }

  /**
   * Asks for a page, and for smaller ones where the failure says so. Throws AnswerFailure: with `stop` where a page as large as is
   * needed was refused again and again.
   */
  async ask<Page>(ask: (size: number) => Promise<Page>): Promise<Page> {
    for (;;) {
      try {
        return await ask(this.#now);
      } catch (error) {
        if (!(error instanceof AnswerFailure)) throw error;
        const { pageSizeMax, isTooMuch } = error.about;
        const smaller = pageSizeMax ?? (isTooMuch ? Math.floor(this.#now / 2) : this.#now);
        if (smaller < 1 || smaller >= this.#now) throw error;
        if (pageSizeMax !== null) this.#max = pageSizeMax;
        if (smaller <= this.#tooSmall) throw this.#refused(error);
        this.#now = smaller;
      }
    }
  }

  #refused(cause: AnswerFailure): AnswerFailure {
    this.#refusals += 1;
    if (cause.about.pageSizeMax === null && this.#refusals < REFUSALS_MAX) return cause;
    const pages = `pages of ${this.#tooSmall} updates that all have one record time, and refuses larger ones`;
    const text = `it gives ${pages}: read this part of the ledger from files (${cause.message})`;
    return new AnswerFailure(text, { cause, conduct: 'stop' });
  }
}
