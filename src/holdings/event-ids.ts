import { parseInt64 } from '../json/exact-number.ts';
import { formatTime, parseRequestTime } from '../ledger/time.ts';
import type { Snapshot } from './facts.ts';
import type { OfInstrument } from './instrument.ts';
import type { MovementName, OwnersMovement } from './movement-facts.ts';

const DIGEST_DIGITS = 8;

/** The id of a snapshot's event, by which a client resumes: its migration, record time and, where it has one, the first digits of its digest. */
export function snapshotId({ migrationId, recordTime, digest }: Snapshot): string {
  const digits = digest === null ? '' : ` ${digest.slice(0, DIGEST_DIGITS)}`;
  return `${migrationId} ${formatTime(recordTime)}${digits}`;
}

/** The id of a movement's event: its migration, record time, update and party, of a token its account and instrument too, percent-encoded. */
export function movementId({ migrationId, recordTime, updateId, party, account, instrument }: OwnersMovement): string {
  const ofToken = [account?.provider ?? '', account?.accountId ?? '', instrument?.admin ?? '', instrument?.id ?? ''];
  const parts = [String(migrationId), formatTime(recordTime), updateId, party, ...(instrument ? ofToken : [])];
  return parts.map(percentEncoded).join(' ');
}

/** Only unreserved characters stay (RFC 3986). */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

export interface SnapshotName extends Pick<MovementName, 'migrationId' | 'recordTime'> {
  /** Null in the ids of older versions, and of forced snapshots. */
  readonly digits: string | null;
}

/** Null for a text that no event can have as its id. */
export function parseEventId(text: string): SnapshotName | (MovementName & OfInstrument) | null {
  const parts = text.split(' ');
  const [migration, time, third = null, party, ...token] = parts.map(percentDecoded);
  const [migrationId, recordTime] = [parseInt64(migration ?? ''), parseRequestTime(time ?? '')];
  if (migrationId === null || recordTime === null) return null;
  if (parts.length === 4) return third && party ? { migrationId, recordTime, updateId: third, party } : null;
  if (parts.length === 8) {
    const [provider, accountId, admin, id] = token as [string, string, string, string];
    const name = { migrationId, recordTime, updateId: third!, party: party! };
    return { ...name, account: { provider: provider || null, accountId }, instrument: { admin, id } };
  }
  if (parts.length > 3 || (third !== null && !/^[0-9a-f]{8}$/.test(third))) return null;
  return { migrationId, recordTime, digits: third };
}

export function hasDigits({ digest }: Snapshot, { digits }: SnapshotName): boolean {
  return digits === null || digest?.slice(0, DIGEST_DIGITS) === digits;
}

/** Empty where it is not encoded so. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
