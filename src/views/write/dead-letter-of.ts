import { type Chunk, UPDATE } from '../../chunk/chunk.ts';
import { updateIdOf } from '../../chunk/chunk-ids.ts';
import { cursorBehind, laneOf, messageBytes, messageHash, overlongOf } from '../../chunk/message.ts';
import type { SourceFacts } from '../../feed/source.ts';
import type { BadUpdate } from '../../ledger/bad-update.ts';
import { idText } from '../../ledger/contract-id.ts';
import type { Micros } from '../../ledger/time.ts';
import { DEAD_LETTER_KINDS, type DeadLetter, type DeadLetterKind } from '../store/dead-letters.ts';
import { UnknownContract } from './apply-events.ts';

/** What halts whatever the policy: behind these, everything that follows would be left out as well, or wrongly placed. */
export const HALTS_ALWAYS: ReadonlySet<DeadLetterKind> = new Set(['ahead', 'gap', 'overtaken']);

/** The dead letter of message `i`: its bytes, where it came from and what is wrong with it; the decision is the caller's. */
export function letterOf(
  chunk: Chunk,
  i: number,
  bad: BadUpdate,
  {
    source,
    now,
    leftOut,
  }: { source: { name: string; kind: SourceFacts }; now: Micros; leftOut: (contractId: string) => number | null },
): Omit<DeadLetter, 'id' | 'decision'> {
  const bytes = Buffer.from(messageBytes(chunk, i));
  const overlong = overlongOf(chunk, i);
  const place = { lane: laneOf(chunk, i), offset: chunk.updates.offset[i]!, cursor: cursorBehind(chunk, i) };
  return {
    kind: DEAD_LETTER_KINDS[bad.code],
    ...causeOf(bad, leftOut),
    source: source.name,
    sourceKind: source.kind.kind,
    ...place,
    place: JSON.stringify(source.kind.placeOf(place)),
    ...identity(chunk, i),
    field: bad.field,
    given: bad.given,
    expected: bad.expected,
    sha256: messageHash(chunk, i),
    length: overlong?.length ?? bytes.length,
    bytes,
    createdAt: now,
  };
}

/** An archive may be bad only because the update before it, which made its contract, was left out. */
function causeOf(bad: BadUpdate, leftOut: (contractId: string) => number | null): Pick<DeadLetter, 'code' | 'reason'> {
  const { code, message } = bad;
  const cause = bad instanceof UnknownContract ? leftOut(bad.contractId) : null;
  if (cause === null) return { code, reason: message };
  return {
    code: 'create_left_out',
    reason: `${message}; dead letter ${cause}, which was left out, names this contract`,
  };
}

function identity(chunk: Chunk, i: number): Pick<DeadLetter, 'migrationId' | 'updateId' | 'recordTime'> {
  const { kind, migrationId, recordTime } = chunk.updates;
  const rare = chunk.rare.get(i);
  if (rare?.kind === 'bad')
    return { migrationId: rare.migrationId, updateId: rare.updateId, recordTime: rare.recordTime };
  if (rare !== undefined) {
    return {
      migrationId: rare.migrationId,
      updateId: null,
      recordTime: rare.times.reduce((most, each) => Math.max(most, each.recordTime), 0),
    };
  }
  const updateId = idText(updateIdOf(chunk, i));
  return { migrationId: migrationId[i]!, updateId, recordTime: kind[i] === UPDATE.import ? null : recordTime[i]! };
}
