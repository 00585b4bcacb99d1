import { closeSync, openSync, writeSync } from 'node:fs';
import { type HistoryItem, inOrder } from '../test/support/ledger/history.ts';
import type { LedgerOptions } from '../test/support/ledger/options.ts';
import { randomLedger } from '../test/support/ledger/random-ledger.ts';
import { scanLine } from '../test/support/ledger/scan-lines.ts';

const CHUNK_CHARS = 1 << 20;

/** Writes a feed of so many creates and archives, in Scan's form unless another is given. The same options give the same bytes. */
export function makeFeed(
  path: string,
  ledger: LedgerOptions,
  events: number,
  lineOf: (item: HistoryItem) => string | null = scanLine,
): { bytes: number; updates: number } {
  const file = openSync(path, 'w');
  let [text, bytes, updates, made] = ['', 0, 0, 0];
  for (const item of randomLedger(ledger)) {
    const line = lineOf(item);
    if (line === null || item.kind !== 'update') continue;
    for (const event of inOrder(item.events)) if (event.kind === 'create' || event.consuming) made++;
    text += `${line}\n`;
    updates++;
    if (text.length >= CHUNK_CHARS || made >= events) {
      bytes += writeSync(file, text);
      text = '';
    }
    if (made >= events) break;
  }
  closeSync(file);
  return { bytes, updates };
}
