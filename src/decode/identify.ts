import { isWire, type Wire } from './values.ts';

/** How a message that cannot be applied identifies itself, for its dead letter: as written, not validated. */
export interface Identity {
  readonly updateId: string | null;
  readonly recordTime: string | null;
  /** Null where the message has none, as always in the Ledger API's format. */
  readonly migrationId: number | null;
}

/** Text is searched only this far: the fields are near the start, and a broken message may be megabytes. */
const SEARCHED_BYTES_MAX = 65_536;
const SHOWN_CHARS_MAX = 300;
const UPDATE_ID = /"(?:update_id|updateId)"\s*:\s*"([^"\\]{1,300})"/;
const RECORD_TIME = /"(?:record_time|recordTime)"\s*:\s*"([^"\\]{1,300})"/;
const MIGRATION_ID = /"migration_id"\s*:\s*([0-9]{1,15})\b/;

/** Best effort, never throws: from the parsed message, or from the text of one that does not parse or was cut. */
export function identify(bytes: Uint8Array): Identity {
  const parsed = parseLossy(bytes);
  return isWire(parsed) ? identifyWire(parsed) : identifyText(bytes);
}

function parseLossy(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function identifyWire(message: Wire): Identity {
  const [kind] = isWire(message.update) ? Object.values(message.update).filter(isWire) : [];
  const value = kind === undefined ? message : isWire(kind.value) ? kind.value : kind;
  const event = isWire(value.event) ? value.event : {};
  return {
    updateId: shown(value.update_id) ?? shown(value.updateId),
    recordTime: shown(value.record_time) ?? shown(value.recordTime),
    migrationId: whole(value.migration_id) ?? whole(event.migration_id),
  };
}

function identifyText(bytes: Uint8Array): Identity {
  const text = new TextDecoder().decode(bytes.subarray(0, SEARCHED_BYTES_MAX));
  const migrationId = MIGRATION_ID.exec(text)?.[1];
  return {
    updateId: UPDATE_ID.exec(text)?.[1] ?? null,
    recordTime: RECORD_TIME.exec(text)?.[1] ?? null,
    migrationId: migrationId === undefined ? null : Number(migrationId),
  };
}

function shown(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, SHOWN_CHARS_MAX) : null;
}

function whole(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
