import { bytesOf, type DecodedBatch, type DecodedMessage, lengthOf, sha256Of } from '../../feed/decoded-batch.ts';
import type { BrokenContainer, NamedSource } from '../../feed/source.ts';
import type { BadUpdate } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import { type DeadLetter, type DeadLetters, kindOf } from '../store/dead-letter-store.ts';
import { UnknownContract } from './apply-events.ts';

/** What halts whatever the policy: otherwise everything after these would be left out too, or put in the wrong place. */
const HALTS_ALWAYS: ReadonlySet<string> = new Set(['ahead', 'gap', 'overtaken']);

/** A DSO that cannot be counted is that of every coin after it, too. */
export function haltsAlways({ kind, code }: Pick<DeadLetter, 'kind' | 'code'>): boolean {
  return HALTS_ALWAYS.has(kind) || code === 'dso_of_tokens';
}

/** The dead letter of a message: its bytes, where it came from and what is wrong with it; the caller sets the decision. */
export function deadLetterOf(
  batch: DecodedBatch,
  message: DecodedMessage,
  bad: BadUpdate,
  { source, now, deadLetters }: { source: NamedSource; now: Micros; deadLetters: DeadLetters },
): Omit<DeadLetter, 'id' | 'decision'> {
  // An archive may be bad only because the earlier update with its create was left out.
  const cause = bad instanceof UnknownContract ? deadLetters.leftOut(bad.contractId) : null;
  const location = { lane: message.lane, offset: message.offset, resumeToken: message.resumeToken };
  return {
    kind: kindOf(bad.code),
    code: cause === null ? bad.code : 'create_left_out',
    reason: bad.message + (cause === null ? '' : `; dead letter ${cause}, which was left out, names this contract`),
    source: source.name,
    sourceKind: source.kind.kind,
    ...location,
    location: JSON.stringify(source.kind.locationOf(location)),
    ...identity(message.content),
    field: bad.field,
    given: bad.given,
    expected: bad.expected,
    sha256: sha256Of(batch, message),
    length: lengthOf(message) ?? 0,
    bytes: Buffer.from(bytesOf(batch, message)),
    createdAt: now,
  };
}

/** The dead letter of a broken array, page, gzip, zstd or batch: location and reason, no bytes (docs/rules.md, bad updates). */
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
    ...(batch ?? { lane: source.kind.kind, offset: 0, resumeToken: null }),
    location: JSON.stringify(source.kind.locationOf(batch ?? { lane: '', offset: 0 })),
    ...NO_IDENTITY,
    field: null,
    given: null,
    expected: null,
    reason: `${broken.location}: ${broken.message}`,
    sha256: Buffer.alloc(0),
    length: 0,
    bytes: Buffer.alloc(0),
    createdAt: now,
  };
}

const NO_IDENTITY = { migrationId: null, updateId: null, recordTime: null };

function identity(content: DecodedMessage['content']): Pick<DeadLetter, 'migrationId' | 'updateId' | 'recordTime'> {
  if (content.kind === 'ignored') return NO_IDENTITY;
  const { migrationId } = content;
  if (content.kind !== 'checkpoint')
    return { migrationId, updateId: 'updateId' in content ? content.updateId : null, recordTime: content.recordTime };
  const recordTime = content.times.reduce((most, each) => Math.max(most, each.recordTime), 0);
  return { migrationId, updateId: null, recordTime };
}
