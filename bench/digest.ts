import { tryDecode } from '../src/decode/decode-message.ts';
import { BadUpdate } from '../src/ledger/bad-update.ts';
import { archivedLine, changesHash, createdLine } from '../src/ledger/digest.ts';
import type { LedgerEvent } from '../src/ledger/update.ts';
import { Items, passSorted } from '../src/views/write/open-items.ts';
import { linesOf } from './lines.ts';

/** What the digests of a feed cost by themselves. */
export interface DigestReport {
  readonly cpuMs: number;
  readonly events: number;
}

/** About as many as an interval of the bench's feeds has. */
const EVENTS_EACH = 9_000;

/** The items of an interval. */
function digest(events: readonly LedgerEvent[], open: Items): void {
  for (const event of events) {
    if (event.kind === 'archive') open.addLine(archivedLine(event.contractId));
    else if ((event.kind === 'Amulet' || event.kind === 'LockedAmulet') && !(event.body instanceof BadUpdate))
      open.addLine(createdLine(event.body, event.contractId));
  }
  const changes = changesHash(0, 0);
  passSorted(
    () => [open.bytes],
    (sorted) => changes.update(sorted),
  );
  changes.digest();
  open.clear();
}

const report = { cpuMs: 0, events: 0 };
const open = new Items();
let events: LedgerEvent[] = [];
function measure(): void {
  const before = process.cpuUsage();
  digest(events, open);
  const { user, system } = process.cpuUsage(before);
  report.cpuMs += (user + system) / 1000;
  report.events += events.length;
  events = [];
}

for (const line of linesOf(process.argv[2]!)) {
  const update = tryDecode(line, { migrationId: 0 });
  if (!(update instanceof BadUpdate) && update.kind === 'update') events.push(...update.events);
  if (events.length >= EVENTS_EACH) measure();
}
measure();
process.stdout.write(`${JSON.stringify(report satisfies DigestReport)}\n`);
