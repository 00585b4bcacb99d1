import type { JsonClient } from '../network/json-client.ts';
import { earlier, earlierOf, isAfter, OVERLAP_US, type ScanCursor } from './cursor.ts';
import { ScanFailure } from './failure.ts';
import { PageSize } from './page-size.ts';
import { askUpdates, type ScanUpdate } from './updates.ts';

export interface ReadPage {
  /** Those that were not returned before. */
  readonly updates: readonly ScanUpdate[];
  /** Whether the Scan has no more for now. */
  readonly isEnd: boolean;
}

export interface ReaderOptions {
  readonly from: ScanCursor | null;
  readonly pageSize: number;
  readonly applied: () => ScanCursor | null;
}

interface Page {
  readonly updates: readonly ScanUpdate[];
  /** Whether there may be more behind it. */
  readonly isFull: boolean;
}

/** Reads updates from a place on, page by page, each update once; the pages may be of different Scans. */
export class UpdatesReader {
  readonly #size: PageSize;
  readonly #applied: () => ScanCursor | null;
  /** The last place of an update returned. */
  #furthest: ScanCursor | null;
  /** The last page was full: after what to ask for the next one. Null at the end. */
  #behindPage: ScanCursor | null = null;
  /** The page behind a full one, which a Scan is asked for while that one is used. */
  #coming: { readonly client: JsonClient; readonly page: Promise<Page> } | null = null;
  /** Updates returned whose time may be asked for again. */
  readonly #known = new Map<string, ScanCursor>();
  /** Those before this are forgotten. */
  #forgotten: ScanCursor | null = null;

  /**
   * `from`: null for the first update of all. `applied`: how far what was returned is known to be good. What is bad may have any
   * time, so at the end it is asked from there on.
   */
  constructor({ from, pageSize, applied }: ReaderOptions) {
    this.#size = new PageSize(pageSize);
    this.#applied = applied;
    this.#furthest = from;
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
    const sure = this.#sure();
    const after = this.#behindPage ?? sure;
    const coming = this.#coming;
    this.#coming = null;
    const { updates: page, isFull } = await (coming?.client === client ? coming.page : this.#ask(client, after));
    const updates = page.filter(({ id }) => !this.#known.has(id));
    for (const { id, at, upTo } of updates) {
      if (at !== null) this.#known.set(id, at);
      if (upTo !== null && (this.#furthest === null || isAfter(upTo, this.#furthest))) this.#furthest = upTo;
    }
    if (isFull) this.#goOn(client, { page, after });
    else {
      this.#behindPage = null;
      this.#size.reset();
    }
    if (sure !== null) this.#forget(sure);
    return { updates, isEnd: !isFull };
  }

  async #ask(client: JsonClient, after: ScanCursor | null): Promise<Page> {
    return this.#size.ask(async (pageSize) => {
      const updates = await askUpdates(client, { after, pageSize });
      return { updates, isFull: updates.length >= pageSize };
    });
  }

  /** Behind a full page another synchronizer may have an update at its last time, so that one is asked for again. */
  #goOn(client: JsonClient, { page, after }: { page: readonly ScanUpdate[]; after: ScanCursor | null }): void {
    const last = page.findLast(({ at }) => at !== null)?.at ?? null;
    const next = last && earlier(last, 1);
    if (next !== null && (after === null || isAfter(next, after))) {
      this.#behindPage = next;
      this.#size.movedOn();
      const coming = this.#ask(client, next);
      // Whether it failed is asked with the next page.
      coming.catch(() => {});
      this.#coming = { client, page: coming };
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

  /** After what to ask at the end: nothing after it is missed. */
  #sure(): ScanCursor | null {
    const good = this.#applied();
    return good && earlier(earlierOf(good, this.#furthest)!, OVERLAP_US);
  }

  #forget(sure: ScanCursor): void {
    if (this.#forgotten !== null && !isAfter(sure, this.#forgotten)) return;
    this.#forgotten = sure;
    for (const [id, at] of this.#known) if (isAfter(sure, at)) this.#known.delete(id);
  }
}
