import { BadUpdate } from '../ledger/bad-update.ts';
import { isWire, type Wire } from './values.ts';

const EXPECTED = 'one update, as an item of Scan /v2/updates or of the JSON Ledger API /v2/updates';

/** Other JSON that people take for a feed, recognized by a field that only it has. */
const LOOKALIKES: readonly (readonly [field: string, what: string])[] = [
  ['transactions', 'a whole Scan page in one message'],
  ['created_events', 'a holdings or ACS listing'],
  ['summaries', 'a holdings summary'],
  ['contractEntry', 'an ACS listing'],
  ['event_type', 'a single event'],
  ['CreatedEvent', 'a single event'],
  ['ArchivedEvent', 'a single event'],
  ['ExercisedEvent', 'a single event'],
  ['createdEvent', 'a single event'],
  ['archivedEvent', 'a single event'],
  ['created', 'the events of one contract'],
  ['transaction', 'protobuf JSON'],
  ['reassignment', 'protobuf JSON'],
  ['offsetCheckpoint', 'protobuf JSON'],
  ['topologyTransaction', 'protobuf JSON'],
];

/** The BadUpdate for a message that is neither format; says what it looks like where that is known. */
export function notAFeed(message: unknown): BadUpdate {
  const what = isWire(message) ? lookalike(message) : undefined;
  return new BadUpdate(
    'not_a_feed',
    'message',
    message,
    what === undefined ? EXPECTED : `${EXPECTED}; this looks like ${what}`,
  );
}

function lookalike(message: Wire): string | undefined {
  const known = LOOKALIKES.find(([field]) => Object.hasOwn(message, field));
  if (known !== undefined) return known[1];
  const [first] = Object.values(message);
  return isWire(first) && 'event_type' in first ? 'events without their update' : undefined;
}
