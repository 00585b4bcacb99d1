import { showGiven } from '../show-given.ts';

/** What can be wrong with a message, as a code: dead letters store it, and it selects the advice. */
export const FAULT_CODES = [
  /** A field is missing or invalid, in a way that has no code of its own. */
  'bad_field',
  /** The message ends within a character or within its JSON. */
  'cut_off',
  'not_utf8',
  'not_json',
  /** JSON that is no update. */
  'not_a_feed',
  'overlong',
  /** A batch of a topic whose checksum is another, or that takes too much memory unpacked. */
  'broken_batch',
  /** At or before a record time that its synchronizer has already passed. */
  'disorder',
  /** Before the first update that is known of its synchronizer. */
  'before_first',
  /** After a snapshot import whose marker has not come: what else was active is not known. */
  'half_seed',
  /** An archive of a contract that was never created or is already archived. */
  'not_active',
  /** A create with the id of an active contract but other content. */
  'other_content',
  /** The first coin names a DSO whose holdings were counted as tokens before. */
  'dso_of_tokens',
  'ahead_of_clock',
  /** So long after the time reached that very many snapshots would be sealed. */
  'record_time_gap',
  /** From a lane that was idle while the others went on, and too late: an import, or an update at or before a sealed grid time. */
  'overtaken',
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

/** A fault as plain data, which can cross threads. */
export interface Fault {
  readonly code: FaultCode;
  /** The field as the feed writes it. */
  readonly field: string;
  /** What was given, as text for a message. */
  readonly given: string;
  readonly expected: string;
}

/** An update cannot be applied. Decoding and applying throw it; the writer makes a dead letter of it (docs/rules.md, bad updates). */
export class BadUpdate extends Error implements Fault {
  readonly code: FaultCode;
  readonly field: string;
  readonly given: string;
  readonly expected: string;

  constructor(code: FaultCode, field: string, given: unknown, expected: string) {
    const shown = showGiven(given);
    super(`${field}: given ${shown}, expected ${expected}`);
    this.name = 'BadUpdate';
    this.code = code;
    this.field = field;
    this.given = shown;
    this.expected = expected;
  }

  /** The fault as plain data. */
  get fault(): Fault {
    const { code, field, given, expected } = this;
    return { code, field, given, expected };
  }

  static restore(fault: Fault): BadUpdate {
    const bad = new BadUpdate(fault.code, fault.field, null, fault.expected);
    return Object.assign(bad, {
      given: fault.given,
      message: `${fault.field}: given ${fault.given}, expected ${fault.expected}`,
    });
  }
}
