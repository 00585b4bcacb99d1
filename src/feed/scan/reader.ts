import type { JsonClient } from '../network/json-client.ts';
import { earlier, isAfter, OVERLAP_US, type ScanCursor } from './cursor.ts';
import { ScanFailure } from './failure.ts';
import { PageSize } from './page-size.ts';
import { askUpdates, type ScanUpdate } from './updates.ts';

export interface ReadPage {
  /** Those that were not returned before. */
  readonly updates: readonly ScanUpdate[];
  /** Whether the Scan has no more for now. */
  readonly isEnd: boolean;
}

/** Reads updates from a place on, page by page, each update once; the pages may be of different Scans. */
export class UpdatesReader {
  readonly #size: PageSize;
  /** The last place of an update returned. */
  #furthest: ScanCursor | null;
  /** After what to ask. */
  #after: ScanCursor | null;
  /** Updates returned whose time may be asked for again. */
  readonly #known = new Map<string, ScanCursor>();

  /** `from`: null for the first update of all. */
  constructor({ from, pageSize }: { from: ScanCursor | null; pageSize: number }) {
    this.#size = new PageSize(pageSize);
    this.#furthest = from;
    this.#after = from && earlier(from, OVERLAP_US);
  }

  get furthest(): ScanCursor | null {
    return this.#furthest;
  }

  /** Whether nothing else has read further. */
  isAt(place: ScanCursor | null): boolean {
    return place === null || (this.#furthest !== null && !isAfter(place, this.#furthest));
  }

  /** Throws ScanFailure: one that does not pass where the Scan has more updates at one time than it gives in a page. */
  async next(client: JsonClient): Promise<ReadPage> {
    const page = await this.#size.ask((pageSize) => askUpdates(client, { after: this.#after, pageSize }));
    const isFull = page.length >= this.#size.now;
    const updates = page.filter(({ id }) => !this.#known.has(id));
    for (const { id, at, upTo } of updates) {
      if (at !== null) this.#known.set(id, at);
      if (upTo !== null && (this.#furthest === null || isAfter(upTo, this.#furthest))) this.#furthest = upTo;
    }
    if (isFull) this.#goOn(client, page);
    else {
      this.#after = this.#furthest && earlier(this.#furthest, OVERLAP_US);
      this.#size.reset();
    }
    this.#forget();
    return { updates, isEnd: !isFull };
  }

  /** Behind a full page another synchronizer may have an update at its last time, so that one is asked for again. */
  #goOn(client: JsonClient, page: readonly ScanUpdate[]): void {
    const last = page.findLast(({ at }) => at !== null)?.at ?? null;
    const after = last && earlier(last, 1);
    if (after !== null && (this.#after === null || isAfter(after, this.#after))) {
      this.#after = after;
      this.#size.movedOn();
      return;
    }
    // All of the page has one time.
    if (!this.#size.grow())
      throw new ScanFailure(
        `${client.url} has more updates at one record time than the ${this.#size.now} that it gives in a page: ` +
          'read this part of the ledger from files',
        { isFinal: true },
      );
  }

  #forget(): void {
    if (this.#furthest === null) return;
    const kept = earlier(this.#furthest, OVERLAP_US);
    for (const [id, at] of this.#known) if (isAfter(kept, at)) this.#known.delete(id);
  }
}
