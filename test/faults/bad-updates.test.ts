import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/views/store/dead-letter-store.ts';
import { openDeadLetters } from '../../src/views/store/dead-letter-store.ts';
import { BAD_UPDATES, type BadKind, badMessage, GOOD } from '../support/decode/bad-updates.ts';
import * as messages from '../support/decode/messages.ts';
import type { HistoryUpdate } from '../support/ledger/history.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { oracle } from '../support/ledger/oracle.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { sixDigitTime } from '../support/ledger/wire-text.ts';
import { soakCount } from '../support/program/soak.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type Cuts, linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

type Format = 'scan' | 'ledger-api';
const SEED = 61;
const PLACES = 6;
const ITEMS = [...randomLedger(oddLedger(SEED, { updates: 30 }))];
const DSO = oracle(ITEMS, { periodMicros: TEN_MINUTES_US }).dso;
const UPDATES = ITEMS.filter((item): item is HistoryUpdate => item.kind === 'update');
const MIGRATION = UPDATES[0]!.migrationId;

/** A place in the feed, what is changed there so that the bad update is bad in one field only, and the views without it. */
interface Place {
  /** Lines before it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly recordTime: number;
  readonly halted: Record<string, string[]>;
  readonly without: Record<string, string[]>;
}

let folder: TemporaryDirectory;
const places: Record<Format, Place[]> = { scan: [], 'ledger-api': [] };
let directories = 0;

beforeAll(async () => {
  folder = temporaryDirectory();
  const random = createRandom(SEED);
  for (const format of ['scan', 'ledger-api'] as const) {
    for (let number = 0; number < PLACES; number++) {
      // Among them the very first place and the very last.
      const at = number === 0 ? 0 : number === 1 ? ITEMS.length : random.below(ITEMS.length);
      const last = ITEMS.slice(0, at).filter((item): item is HistoryUpdate => item.kind === 'update');
      const recordTime =
        last.reduce((most, each) => Math.max(most, each.recordTime!), UPDATES[0]!.recordTime! - 5_000_000) + 1;
      const before = [...linesOf(ITEMS.slice(0, at), format), setup(format, recordTime)];
      const after = linesOf(ITEMS.slice(at), format);
      const halted = await viewsOf(before);
      places[format].push({ before, after, recordTime, halted, without: await viewsOf([...before, ...after]) });
    }
  }
}, 300_000);
afterAll(() => folder[Symbol.dispose]());

async function replayed(
  lines: readonly string[],
  changes: Cuts & { onBadUpdate?: 'quarantine' } = {},
): Promise<string> {
  const dataDir = folder.at(`data-${++directories}`);
  const file = folder.writeLines('feed.ndjson', lines);
  await replayInto(dataDir, [file], { chunkBytes: 50_000, migrationId: MIGRATION, ...changes });
  return dataDir;
}

async function viewsOf(lines: readonly string[]): Promise<Record<string, string[]>> {
  return dumpViews(await replayed(lines));
}

function deadLettersOf(dataDir: string): DeadLetter[] {
  using deadLetters = openDeadLetters(dataDir);
  return deadLetters.list().map(({ id }) => deadLetters.find(id)!);
}

/** A message of the table as this ledger would have it: its DSO, its migration, its time. */
function fitted(format: Format, kind: string, message: messages.Json, recordTime: number): messages.Json {
  const own = JSON.parse(JSON.stringify(message).replaceAll(messages.DSO, DSO)) as messages.Json;
  const time = sixDigitTime(recordTime);
  if (format === 'ledger-api') {
    const [value] =
      kind === 'Bare'
        ? [own]
        : Object.values(own.update as Record<string, { value: messages.Json }>).map((each) => each.value);
    if (kind === 'Checkpoint') messages.change(value!, 'synchronizerTimes/0/recordTime', time);
    else if (kind !== 'Import') value!.recordTime = time;
    return own;
  }
  if (kind === 'Import') return messages.change(own, 'migration_id', MIGRATION);
  own.record_time = time;
  return messages.change(own, kind === 'Transaction' ? 'migration_id' : 'event/migration_id', MIGRATION);
}

/** Creates what the messages of the table archive, on their own synchronizer. */
function setup(format: Format, recordTime: number): string {
  const create = (node: number): messages.Json =>
    format === 'scan'
      ? messages.scanCreate(node, 'Amulet', messages.amuletArguments())
      : { CreatedEvent: messages.ledgerApiCreate(node, 'Amulet', messages.amuletArguments()) };
  const events = [create(1), create(12)];
  const message =
    format === 'scan'
      ? {
          ...messages.scanTransaction(),
          update_id: 'setup',
          root_event_ids: ['u:1', 'u:12'],
          events_by_id: { 'u:1': events[0], 'u:12': events[1] },
        }
      : messages.ledgerApi('Transaction', { ...messages.bareTransaction(), updateId: 'setup', events });
  return JSON.stringify(fitted(format, 'Transaction', message, recordTime));
}

/** Archives what the table's transactions would have created. */
function followUp(format: Format, recordTime: number): string {
  const message =
    format === 'scan'
      ? {
          ...messages.scanTransaction(),
          update_id: 'later',
          root_event_ids: ['u:2'],
          events_by_id: { 'u:2': messages.scanExercise(2, { consuming: true }) },
        }
      : messages.ledgerApi('Transaction', {
          ...messages.bareTransaction(),
          updateId: 'later',
          events: [{ ArchivedEvent: messages.ledgerApiArchive(2) }],
        });
  return JSON.stringify(fitted(format, 'Transaction', message, recordTime));
}

function badLine(format: Format, bad: BadKind, recordTime: number): string {
  const [kind] = bad;
  const good = fitted(format, kind, GOOD[format]![kind]!(), recordTime);
  return JSON.stringify(badMessage(bad, good)).replaceAll(messages.DSO, DSO);
}

/** test/decode proves each of them; here a part of them goes through the views. */
const isSampled = (_: unknown, number: number): boolean => soakCount(1) > 1 || number % 4 === 0;

describe.each(['scan', 'ledger-api'] as const)(
  'a bad update at a random place of a feed of the format %s',
  (format) => {
    it.each(BAD_UPDATES[format].map((bad, number) => [number, ...bad] as const).filter(isSampled))(
      '%i: %s with %s = %s',
      async (number, ...bad) => {
        const [kind, , , field] = bad;
        const random = createRandom(number);
        const { before, after, recordTime, halted, without } = random.pick(places[format]);
        const cuts: Cuts = { chunkBytes: 1 + random.below(20_000), batchEventsMax: 1 + random.below(200) };
        const line = badLine(format, bad, recordTime + 1);
        const stopped = await replayed([...before, line, ...after], cuts);
        const [deadLetter, ...others] = deadLettersOf(stopped);
        expect(others).toEqual([]);
        expect(deadLetter).toMatchObject({ field, decision: 'halted', kind: 'update', offset: before.length + 1 });
        expect(deadLetter!.reason).toBe(`${field}: given ${deadLetter!.given}, expected ${deadLetter!.expected}`);
        expect(deadLetter!.bytes.toString()).toBe(line);
        expect(dumpViews(stopped)).toEqual(halted);

        const later = followUp(format, recordTime + 2);
        const lines = [...before, line, ...(creates(kind) ? [later] : []), ...after];
        const went = await replayed(lines, { ...cuts, onBadUpdate: 'quarantine' });
        const left = deadLettersOf(went);
        expect(left.map(({ decision, field }) => [decision, field])).toEqual([
          ['quarantined', field],
          ...(creates(kind) ? [['quarantined', format === 'scan' ? 'contract_id' : 'contractId']] : []),
        ]);
        if (creates(kind)) {
          expect(left[1]!.reason).toContain('this Amulet was never created or is archived already');
          const says = '; dead letter 1, which was left out, names this contract';
          expect(left[1]!.reason.endsWith(says)).toBe(line.includes('"c2"'));
        }
        expect(dumpViews(went)).toEqual(without);
      },
    );

    function creates(kind: string): boolean {
      return kind === 'Transaction' || kind === 'Bare';
    }

    it('and the messages that the bad ones are made from are good there', async () => {
      for (const [kind, good] of Object.entries(GOOD[format]!)) {
        const { before, after, recordTime } = places[format][2]!;
        const line = JSON.stringify(fitted(format, kind, good(), recordTime + 1));
        expect(deadLettersOf(await replayed([...before, line, ...after])), kind).toEqual([]);
      }
    });
  },
);
