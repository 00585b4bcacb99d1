import { AnswerFailure, type JsonClient } from '../network/json-client.ts';
import { askPage, PageSize } from './scan-client.ts';
import { earlier, earlierOf, isAfter, laterOf, type ScanPosition } from './scan-position.ts';
import { firstAfter, type ScanUpdate, updatesIn } from './update-pages.ts';

/**
 * A position has no synchronizer in it: an update of a second one may have the time at which a page ended, or be taken in by the
 * Scan later than others of its time. So at the end it is asked again for this much.
 */
const OVERLAP_US = 60_000_000;

export interface ReadPage {
  /** Those that were not returned before. */
  readonly updates: readonly ScanUpdate[];
  /** The Scan has no more for now. */
  readonly isEnd: boolean;
  /** How far this page goes; null where it is empty and was asked for from the first update of all. */
  readonly shown: ScanPosition | null;
  /** When it was asked for, by our clock in milliseconds: that may be long before it is used. */
  readonly askedAt: number;
}

/** A page that the Scan was asked for. */
interface Asked {
  readonly at: number;
  readonly page: Promise<{ readonly bytes: Buffer; readonly size: number }>;
}

/** Reads the updates of one Scan from a position on, page by page, each update once. */
export class UpdatesReader {
  readonly #client: JsonClient;
  readonly #size: PageSize;
  readonly #applied: () => ScanPosition | null;
  /** The last position of an update returned. */
  #furthest: ScanPosition | null;
  /** The Scan has more than the last page: after what to ask for the next one. Null at the end. */
  #behindPage: ScanPosition | null = null;
  /** The page behind `#behindPage`, asked for while the one before it is used. */
  #coming: Asked | null = null;
  /** Updates returned whose time may be asked for again. */
  readonly #known = new Map<string, ScanPosition>();

  /** `from`: null for the first of all. `applied`: how far what was returned is good; a bad update may have any time, so it is asked from there. */
  constructor(
    client: JsonClient,
    options: { from: ScanPosition | null; pageSize: number; applied: () => ScanPosition | null },
  ) {
    this.#client = client;
    this.#size = new PageSize(options.pageSize);
    this.#applied = options.applied;
    this.#furthest = options.from;
  }

  /** Whether no other reader has read further. */
  isAt(position: ScanPosition | null): boolean {
    return position === null || (this.#furthest !== null && !isAfter(position, this.#furthest));
  }

  /** Throws AnswerFailure: with `stop` where the Scan has more updates at one time than it gives in a page. */
  async next(): Promise<ReadPage> {
    const sure = this.#sure();
    const after = this.#behindPage ?? sure;
    const asked = this.#coming ?? this.#ask(after);
    this.#coming = null;
    const { bytes, size } = await asked.page;
    const page = await updatesIn(this.#client, bytes);
    const last = page.findLast(({ at }) => at !== null)?.at ?? null;
    const isShort = page.length < size;
    // A proxy may give shorter pages than it was asked for.
    const more = isShort && last !== null ? await firstAfter(this.#client, last) : undefined;
    const isEnd = isShort && (more === undefined || page.some(({ id }) => id === more.id));
    const updates = page.filter(({ id }) => !this.#known.has(id));
    for (const { id, at, upTo } of updates) {
      if (at !== null) this.#known.set(id, at);
      this.#furthest = laterOf(this.#furthest, upTo);
    }
    if (!isEnd) this.#goOn(after, { last, count: page.length, isShort });
    else {
      this.#behindPage = null;
      this.#size.reset();
    }
    if (sure !== null) for (const [id, at] of this.#known) if (isAfter(sure, at)) this.#known.delete(id);
    const shown = page.findLast(({ upTo }) => upTo !== null)?.upTo ?? after;
    return { updates, isEnd, shown, askedAt: asked.at };
  }

  #ask(after: ScanPosition | null): Asked {
    const ask = (pageSize: number): Promise<Buffer> => askPage(this.#client, { after, pageSize });
    const page = this.#size.ask(async (size) => ({ bytes: await ask(size), size }));
    // It fails where it is waited for.
    page.catch(() => {});
    return { at: Date.now(), page };
  }

  /** Another synchronizer may have an update at the last time of a page, so that time is asked for again. */
  #goOn(
    after: ScanPosition | null,
    { last, count, isShort }: { last: ScanPosition | null; count: number; isShort: boolean },
  ): void {
    const next = last && earlier(last, 1);
    if (next !== null && (after === null || isAfter(next, after))) {
      this.#behindPage = next;
      this.#size.movedOn();
      this.#coming = this.#ask(next);
      return;
    }
    // All of the page has one time. A short page may also be of a replica that is behind another one.
    if (isShort || !this.#size.grow())
      throw new AnswerFailure(
        `${this.#client.url} has more updates at one record time than the ${count} that it gives in a page: ` +
          'read this part of the ledger from files',
        isShort ? {} : { conduct: 'stop' },
      );
  }

  /** After what to ask at the end: nothing after it is missed. */
  #sure(): ScanPosition | null {
    const good = this.#applied();
    return good && earlier(earlierOf(good, this.#furthest)!, OVERLAP_US);
  }
}
