import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BAD_UPDATES, badMessage, GOOD } from '../../test/support/decode/bad-updates.ts';
import { inOrder } from '../../test/support/ledger/history.ts';
import { randomLedger } from '../../test/support/ledger/random-ledger.ts';
import { scanLine } from '../../test/support/ledger/scan-lines.ts';
import { soakLedger } from './ledger.ts';
import { answerReports, partSettings } from './part.ts';

/** What went into the feed since it began. */
export interface FeedReport {
  readonly updates: number;
  /** Creates and archives. */
  readonly events: number;
  readonly bytes: number;
  /** Bad messages, each another one. */
  readonly bad: number;
  /** Bad messages that were sent once more, byte for byte. */
  readonly badAgain: number;
}

export interface FeedSettings {
  readonly seed: number;
  readonly path: string;
  /** So many events come as fast as they are taken, and then so many a second. */
  readonly eventsAtOnce: number;
  readonly eventsPerSecond: number;
}

const TICK_MS = 20;
const WRITE_CHARS_MAX = 2 ** 20;
/** A feed that was delayed does not come as a flood afterwards. */
const BEHIND_MS_MAX = 1_000;
const BAD_EVERY_UPDATES = 2_000;
const BAD_KINDS = BAD_UPDATES.scan.filter(([kind]) => kind === 'Transaction');

const { seed, path, eventsAtOnce, eventsPerSecond } = partSettings<FeedSettings>();
const made = { updates: 0, events: 0, bytes: 0, bad: 0, badAgain: 0 };
let finishing = false;

/** Lines of the feed, one or several at once, with the bad ones among them. */
function* lines(): Generator<string> {
  for (const item of randomLedger(soakLedger(seed))) {
    const line = scanLine(item);
    if (line === null || item.kind !== 'update') continue;
    for (const event of inOrder(item.events)) if (event.kind === 'create' || event.consuming) made.events++;
    made.updates++;
    yield made.updates % BAD_EVERY_UPDATES === 0 ? `${badLines(line)}${line}\n` : `${line}\n`;
  }
}

/** Bad messages of any kind, a cut one now and then, and every third of them twice. */
function badLines(next: string): string {
  const kind = BAD_KINDS[made.bad % BAD_KINDS.length]!;
  const bad = { ...badMessage(kind, GOOD.scan!.Transaction!()), soak: made.bad };
  const line = made.bad % 4 === 0 ? next.slice(0, next.length / 2) : JSON.stringify(bad);
  made.bad++;
  if (made.bad % 3 !== 0) return `${line}\n`;
  made.badAgain++;
  return `${line}\n${line}\n`;
}

async function feed(): Promise<void> {
  const file = openSync(path, 'w');
  const feedLines = lines();
  let due = eventsAtOnce;
  for (let before = performance.now(); !finishing; ) {
    const now = performance.now();
    if (made.events >= eventsAtOnce) due += (Math.min(now - before, BEHIND_MS_MAX) * eventsPerSecond) / 1000;
    before = now;
    let text = '';
    while (made.events < due && text.length < WRITE_CHARS_MAX) text += feedLines.next().value;
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    made.bytes += bytes.length;
    await sleep(made.events < due ? 0 : TICK_MS);
  }
  closeSync(file);
}

answerReports({
  report: (): FeedReport => made,
  finish: () => {
    finishing = true;
    return fed;
  },
});
const fed = feed();
