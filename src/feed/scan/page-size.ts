import { ScanFailure } from './failure.ts';

/** The largest page that a Scan gives, unless its operator has set another. */
const PAGE_SIZE_MAX = 1000;

/** How many elements to ask a Scan for at once: fewer where it says that so many are too many, or take too long. */
export class PageSize {
  readonly #usual: number;
  #max = PAGE_SIZE_MAX;
  #now: number;

  constructor(usual: number) {
    this.#usual = usual;
    this.#now = usual;
  }

  get now(): number {
    return this.#now;
  }

  reset(): void {
    this.#now = Math.min(this.#usual, this.#max);
  }

  /** False where it is as large as it may be. */
  grow(): boolean {
    if (this.#now >= this.#max) return false;
    this.#now = Math.min(this.#now * 2, this.#max);
    return true;
  }

  /** Asks for a page, and for smaller ones where that is what the failure asks for. */
  async ask<Page>(ask: (size: number) => Promise<Page>): Promise<Page> {
    for (;;) {
      try {
        return await ask(this.#now);
      } catch (error) {
        if (!(error instanceof ScanFailure)) throw error;
        const { pageSizeMax, isTooMuch } = error;
        const smaller = pageSizeMax ?? (isTooMuch ? Math.floor(this.#now / 2) : this.#now);
        if (smaller < 1 || smaller >= this.#now) throw error;
        if (pageSizeMax !== null) this.#max = pageSizeMax;
        this.#now = smaller;
      }
    }
  }
}
