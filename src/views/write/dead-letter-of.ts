import { type Chunk, UPDATE } from '../../chunk/chunk.ts';
import { updateIdOf } from '../../chunk/chunk-ids.ts';
import { messageBytes, messageHash, overlongOf } from '../../chunk/message.ts';
import type { BadUpdate } from '../../ledger/bad-update.ts';
import { idText } from '../../ledger/contract-id.ts';
import type { Micros } from '../../ledger/time.ts';
import type { DeadLetter, DeadLetterKind } from '../store/dead-letters.ts';
import { OvertakenUpdate } from './apply.ts';
import { UnknownContract } from './apply-events.ts';
import { AheadOfClock, RecordTimeGap } from './clock.ts';

/** What halts whatever the policy: behind these, everything that follows would be left out as well, or wrongly placed. */
export const HALTS_ALWAYS: ReadonlySet<DeadLetterKind> = new Set(['ahead', 'gap', 'overtaken']);

/** The dead letter of message `i`: its bytes, where it came from and what is wrong with it; the decision is the caller's. */
export function letterOf(
  chunk: Chunk,
  i: number,
  bad: BadUpdate,
  { source, now, leftOut }: { source: string; now: Micros; leftOut: (contractId: string) => number | null },
): Omit<DeadLetter, 'id' | 'decision'> {
  const bytes = Buffer.from(messageBytes(chunk, i));
  const overlong = overlongOf(chunk, i);
  return {
    kind: kindOf(bad, overlong !== null),
    source,
    partition: chunk.updates.partition[i]!,
    offset: chunk.updates.offset[i]!,
    ...identity(chunk, i),
    field: bad.field,
    given: bad.given,
    expected: bad.expected,
    reason: bad instanceof UnknownContract ? withCause(bad, leftOut(bad.contractId)) : bad.message,
    sha256: messageHash(chunk, i),
    length: overlong?.length ?? bytes.length,
    bytes,
    createdAt: now,
  };
}

/** An archive may be bad only because the update before it, which made its contract, was left out. */
function withCause({ message }: UnknownContract, cause: number | null): string {
  return cause === null ? message : `${message}; dead letter ${cause}, which was left out, names this contract`;
}

function kindOf(bad: BadUpdate, isOverlong: boolean): DeadLetterKind {
  if (bad instanceof AheadOfClock) return 'ahead';
  if (bad instanceof RecordTimeGap) return 'gap';
  if (bad instanceof OvertakenUpdate) return 'overtaken';
  return isOverlong ? 'overlong' : 'update';
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
