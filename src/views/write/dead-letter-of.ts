import type { UpdateCursor } from '../../chunk/update-cursor.ts';
import type { BrokenContainer, NamedSource } from '../../feed/source.ts';
import type { BadUpdate } from '../../ledger/bad-update.ts';
import { idText } from '../../ledger/contract-id.ts';
import type { Micros } from '../../ledger/time.ts';
import { DEAD_LETTER_KINDS, type DeadLetter, type DeadLetterKind } from '../store/dead-letter-store.ts';
import { UnknownContract } from './apply-events.ts';

/** What halts whatever the policy: otherwise everything after these would be left out too, or put in the wrong place. */
export const HALTS_ALWAYS: ReadonlySet<DeadLetterKind> = new Set(['ahead', 'gap', 'overtaken']);

/** The dead letter of a message: its bytes, where it came from and what is wrong with it; the caller sets the decision. */
export function deadLetterOf(
  message: UpdateCursor,
  bad: BadUpdate,
  { source, now, leftOut }: { source: NamedSource; now: Micros; leftOut: (contractId: string) => number | null },
): Omit<DeadLetter, 'id' | 'decision'> {
  const { lane, offset, cursorAfter: cursor } = message;
  const place = { lane, offset, cursor };
  const bytes = Buffer.from(message.bytes());
  return {
    kind: DEAD_LETTER_KINDS[bad.code],
    ...causeOf(bad, leftOut),
    source: source.name,
    sourceKind: source.kind.kind,
    ...place,
    place: JSON.stringify(source.kind.placeOf(place)),
    ...identity(message),
    field: bad.field,
    given: bad.given,
    expected: bad.expected,
    sha256: message.sha256(),
    length: message.length ?? 0,
    bytes,
    createdAt: now,
  };
}

/** The dead letter of a broken array, page, gzip, zstd or batch: place and reason, no bytes (docs/rules.md, bad updates). */
export function containerDeadLetter(
  broken: BrokenContainer,
  { source, now }: { source: NamedSource; now: Micros },
): Omit<DeadLetter, 'id' | 'decision'> {
  const { batch } = broken;
  return {
    kind: 'container',
    code: batch === null ? 'broken_container' : 'broken_batch',
    source: source.name,
    sourceKind: source.kind.kind,
    ...(batch ?? { lane: source.kind.kind, offset: 0, cursor: null }),
    place: JSON.stringify(source.kind.placeOf(batch ?? { lane: '', offset: 0 })),
    migrationId: null,
    updateId: null,
    recordTime: null,
    field: null,
    given: null,
    expected: null,
    reason: `${broken.place}: ${broken.message}`,
    sha256: Buffer.alloc(0),
    length: 0,
    bytes: Buffer.alloc(0),
    createdAt: now,
  };
}

/** An archive may be bad only because the earlier update with its create was left out. */
function causeOf(bad: BadUpdate, leftOut: (contractId: string) => number | null): Pick<DeadLetter, 'code' | 'reason'> {
  const { code, message } = bad;
  const cause = bad instanceof UnknownContract ? leftOut(bad.contractId) : null;
  if (cause === null) return { code, reason: message };
  return {
    code: 'create_left_out',
    reason: `${message}; dead letter ${cause}, which was left out, names this contract`,
  };
}

function identity(message: UpdateCursor): Pick<DeadLetter, 'migrationId' | 'updateId' | 'recordTime'> {
  const { undecodable, checkpoint, seedMark } = message;
  if (undecodable !== null) {
    const { migrationId, updateId, recordTime } = undecodable;
    return { migrationId, updateId, recordTime };
  }
  if (checkpoint !== null) {
    const recordTime = checkpoint.times.reduce((most, each) => Math.max(most, each.recordTime), 0);
    return { migrationId: checkpoint.migrationId, updateId: null, recordTime };
  }
  if (seedMark !== null) return { migrationId: seedMark.migrationId, updateId: null, recordTime: seedMark.recordTime };
  const { migrationId, recordTime } = message;
  return { migrationId, updateId: idText(message.updateId()), recordTime };
}
