import { AnswerFailure } from '../network/failure.ts';
import type { JsonClient } from '../network/json-client.ts';
import { earlier, earlierOf, isAfter, isSame, laterOf, OVERLAP_US, type ScanCursor } from './cursor.ts';
import { PageSize } from './page-size.ts';
import { askPage, firstAfter, lastTimeIn, type ScanUpdate, updatesIn } from './updates.ts';

export interface ReadPage {
  /** Those that were not returned before. */
  readonly updates: readonly ScanUpdate[];
  /** Whether the Scan has no more for now. */
  readonly isEnd: boolean;
  /** How far this page goes; null where it is empty and was asked for from the first update of all. */
  readonly shown: ScanCursor | null;
  /** When it was asked for, by our clock in milliseconds: that may be long before it is used. */
  readonly askedAt: number;
}

export interface ReaderOptions {
  readonly from: ScanCursor | null;
  readonly pageSize: number;
  readonly applied: () => ScanCursor | null;
}

/** A page that a Scan was asked for. */
interface Asked {
  readonly client: JsonClient;
  readonly after: ScanCursor | null;
  readonly at: number;
  readonly page: Promise<{ readonly bytes: Buffer; readonly size: number }>;
}

/** Reads updates from a place on, page by page, each update once; the pages may be of different Scans. */
export class UpdatesReader {
  readonly #size: PageSize;
  readonly #applied: () => ScanCursor | null;
  /** The last place of an update returned. */
  #furthest: ScanCursor | null;
  /** The Scan has more than the last page: after what to ask for the next one. Null at the end. */
  #behindPage: ScanCursor | null = null;
  /** The page behind another one, asked for while that one is decoded and used. */
  #coming: Asked | null = null;
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

  /** Whether nothing else has read further. */
  isAt(place: ScanCursor | null): boolean {
    return place === null || (this.#furthest !== null && !isAfter(place, this.#furthest));
  }

  /** Throws AnswerFailure: one that does not pass where the Scan has more updates at one time than it gives in a page. */
  async next(client: JsonClient): Promise<ReadPage> {
    const sure = this.#sure();
    const after = this.#behindPage ?? sure;
    const asked = this.#ask(client, after);
    this.#coming = null;
    const { bytes, size } = await asked.page;
    const next = this.#behindPage && lastPlaceIn(bytes, this.#behindPage);
    if (next !== null && isAfter(next, this.#behindPage!)) this.#coming = this.#ask(client, next);
    const page = await updatesIn(client, bytes);
    const last = page.findLast(({ at }) => at !== null)?.at ?? null;
    // What is in front of a Scan may give shorter pages than it was asked for.
    const more = page.length < size && last !== null ? await firstAfter(client, last) : undefined;
    // The page asked for meanwhile may be older than that.
    if (more !== undefined) this.#coming = null;
    const isEnd = page.length < size && (more === undefined || page.some(({ id }) => id === more.id));
    const updates = page.filter(({ id }) => !this.#known.has(id));
    for (const { id, at, upTo } of updates) {
      if (at !== null) this.#known.set(id, at);
      this.#furthest = laterOf(this.#furthest, upTo);
    }
    if (!isEnd) this.#goOn(client, { last, count: page.length, isShort: page.length < size, after });
    else {
      this.#behindPage = null;
      this.#coming = null;
      this.#size.reset();
    }
    if (sure !== null) this.#forget(sure);
    const shown = page.findLast(({ upTo }) => upTo !== null)?.upTo ?? after;
    return { updates, isEnd, shown, askedAt: asked.at };
  }

  /** What was asked for already is not asked for again. */
  #ask(client: JsonClient, after: ScanCursor | null): Asked {
    const coming = this.#coming;
    if (coming?.client === client && isSame(coming.after, after)) return coming;
    const page = this.#size.ask(async (size) => ({ bytes: await askPage(client, { after, pageSize: size }), size }));
    // It fails where it is waited for.
    page.catch(() => {});
    return { client, after, at: Date.now(), page };
  }

  /** Behind a page another synchronizer may have an update at its last time, so that one is asked for again. */
  #goOn(
    client: JsonClient,
    {
      last,
      count,
      isShort,
      after,
    }: { last: ScanCursor | null; count: number; isShort: boolean; after: ScanCursor | null },
  ): void {
    const next = last && earlier(last, 1);
    if (next !== null && (after === null || isAfter(next, after))) {
      this.#behindPage = next;
      this.#size.movedOn();
      this.#coming = this.#ask(client, next);
      return;
    }
    // All of the page has one time.
    this.#coming = null;
    // A short page may also be of a replica that is behind another one.
    if (isShort || !this.#size.grow())
      throw new AnswerFailure(
        `${client.url} has more updates at one record time than the ${count} that it gives in a page: ` +
          'read this part of the ledger from files',
        isShort ? {} : { conduct: 'stop' },
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

/** After what to ask for the next page, most likely: where this one is full, and the time that stands last in it is its last update's. */
function lastPlaceIn(page: Buffer, { migrationId }: ScanCursor): ScanCursor | null {
  const recordTime = lastTimeIn(page);
  return recordTime === null ? null : earlier({ migrationId, recordTime }, 1);
}
