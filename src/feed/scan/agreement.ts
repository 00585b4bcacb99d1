import { hash } from 'node:crypto';
import { tryDecode } from '../../decode/decode.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { isAfter, laterOf, type ScanCursor } from './cursor.ts';
import type { ScanUpdate } from './updates.ts';

/** An update that Scans do not tell alike. Each Scan is a number, for people its address. */
export interface Disputed<Scan = number> {
  readonly update: ScanUpdate;
  /** The Scans that tell it so, and those that tell it otherwise or lack it although they are further. */
  readonly toldBy: readonly Scan[];
  readonly notBy: readonly Scan[];
}

export interface Taken {
  /** Each told alike by as many Scans as are needed. */
  readonly agreed: readonly ScanUpdate[];
  /** Not believed: the Scans of `toldBy` disagree with enough others. */
  readonly passedOver: readonly Disputed[];
  /** What reading waits before; null where all that was added is taken. */
  readonly waiting: Disputed | null;
}

/** A Scan that is slower than the others is still compared with so many of the updates taken last. */
const TOLD_MAX = 10_000;

/** An update as one Scan tells it. */
interface Heard {
  readonly update: ScanUpdate;
  /** What is used of it, or all of it where it is bad. */
  readonly content: string;
}

interface Told {
  readonly at: ScanCursor;
  readonly upTo: ScanCursor | null;
  /** Who told it, by its content. */
  readonly by: Map<string, Set<number>>;
  isAgreed: boolean;
}

/**
 * Puts the updates that several Scans tell into one order, and lets pass what enough of them tell alike. Each Scan's are added in
 * its own order; an update that one takes in late may come behind what was taken already. No I/O.
 */
export class Agreement {
  readonly #needed: number;
  readonly #queues: Heard[][];
  /** How far each Scan's answers reach. */
  readonly #reached: (ScanCursor | null)[];
  /** The last ones taken, by the place that an update has on its ledger. */
  readonly #told = new Map<string, Told>();
  #forgottenUpTo: ScanCursor | null = null;

  constructor({ scans, needed }: { scans: number; needed: number }) {
    this.#needed = needed;
    this.#queues = Array.from({ length: scans }, () => []);
    this.#reached = this.#queues.map(() => null);
  }

  add(scan: number, updates: readonly ScanUpdate[]): void {
    for (const each of updates) {
      const heard = heardOf(each);
      this.#queues[scan]!.push(heard);
      this.#reached[scan] = laterOf(this.#reached[scan]!, heard.update.upTo);
    }
  }

  /** Up to here everything was told alike, and what is told of it is not compared any more. */
  get forgottenUpTo(): ScanCursor | null {
    return this.#forgottenUpTo;
  }

  isEmpty(scan: number): boolean {
    return this.#queues[scan]!.length === 0;
  }

  /** Forgets what a Scan told and is not taken: it is asked for it again. */
  clear(scan: number): void {
    this.#queues[scan] = [];
    this.#reached[scan] = null;
  }

  take(): Taken {
    const agreed: ScanUpdate[] = [];
    const passedOver: Disputed[] = [];
    for (;;) {
      const first = this.#first();
      if (first === null) return { agreed, passedOver, waiting: null };
      const tellers = this.#tellersOf(first);
      const told = this.#noteTold(first, tellers);
      const [, alike] = [...told.by].reduce((most, each) => (each[1].size > most[1].size ? each : most));
      const isEnough = alike.size >= this.#needed;
      const further = this.#reached.flatMap((reached, scan) =>
        reached !== null && isAfter(reached, told.at) ? [scan] : [],
      );
      const lacking = further.filter((scan) => ![...told.by.values()].some((each) => each.has(scan)));
      const teller = tellers.find((scan) => alike.has(scan));
      if (!isEnough && lacking.length < this.#needed) {
        const notBy = [...new Set([...further, ...tellers])].filter((scan) => !alike.has(scan));
        const update = teller === undefined ? first : this.#queues[teller]![0]!.update;
        return { agreed, passedOver, waiting: { update, toldBy: [...alike], notBy } };
      }
      if (isEnough && !told.isAgreed && teller !== undefined) {
        agreed.push(this.#queues[teller]![0]!.update);
        told.isAgreed = true;
      }
      const others = tellers.filter((scan) => !isEnough || !alike.has(scan));
      if (others.length > 0) {
        const notBy = isEnough ? [...alike] : lacking;
        passedOver.push({ update: this.#queues[others[0]!]![0]!.update, toldBy: others, notBy });
      }
      for (const scan of tellers) this.#queues[scan]!.shift();
      this.#forget();
    }
  }

  /** The next update by its place. */
  #first(): ScanUpdate | null {
    const old = this.#forgottenUpTo;
    const isOld = (head: ScanUpdate | undefined): boolean => old !== null && head?.at != null && !isAfter(head.at, old);
    for (const queue of this.#queues) while (isOld(queue[0]?.update)) queue.shift();
    const heads = this.#queues.flatMap(([head]) => head?.update ?? []);
    return heads.length === 0 ? null : heads.reduce((least, each) => (comparePlaces(each, least) < 0 ? each : least));
  }

  #tellersOf(update: ScanUpdate): number[] {
    return this.#queues.flatMap(([head], scan) => {
      return head !== undefined && comparePlaces(head.update, update) === 0 ? [scan] : [];
    });
  }

  #noteTold(update: ScanUpdate, tellers: readonly number[]): Told {
    const key = placeText(update);
    const at = update.at ?? { migrationId: 0, recordTime: 0 };
    const told = this.#told.get(key) ?? { at, upTo: update.upTo, by: new Map<string, Set<number>>(), isAgreed: false };
    this.#told.set(key, told);
    for (const scan of tellers) {
      const { content } = this.#queues[scan]![0]!;
      told.by.set(content, (told.by.get(content) ?? new Set()).add(scan));
    }
    return told;
  }

  #forget(): void {
    for (const [key, { upTo }] of this.#told) {
      if (this.#told.size <= TOLD_MAX) return;
      this.#told.delete(key);
      this.#forgottenUpTo = laterOf(this.#forgottenUpTo, upTo);
    }
  }
}

/** Migration, record time and synchronizer: an update's place, of which there is one. */
function comparePlaces(a: ScanUpdate, b: ScanUpdate): number {
  if (a.at === null || b.at === null)
    return a.at === b.at ? (a.id < b.id ? -1 : a.id > b.id ? 1 : 0) : a.at === null ? -1 : 1;
  if (isAfter(a.at, b.at)) return 1;
  if (isAfter(b.at, a.at)) return -1;
  return a.synchronizer < b.synchronizer ? -1 : a.synchronizer > b.synchronizer ? 1 : 0;
}

function placeText({ at, synchronizer, id }: ScanUpdate): string {
  return at === null ? id : `${at.migrationId} ${at.recordTime} ${synchronizer}`;
}

/** Scans of two versions may print differently what is not used. The time of what is bad says nothing. */
function heardOf(update: ScanUpdate): Heard {
  const decoded = update.decoded ?? tryDecode(update.bytes, { migrationId: 0 });
  if (decoded instanceof BadUpdate) return { update: { ...update, upTo: null }, content: hash('sha256', update.bytes) };
  const used = decoded.kind === 'update' ? { ...decoded, ignored: [] } : decoded;
  const text = JSON.stringify(used, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  return { update, content: hash('sha256', text) };
}
