import type { BrokenContainer, NamedSource } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';

/** The dead letter of a broken array, page, gzip or zstd: place and reason, no bytes (docs/rules.md, bad updates). */
export function containerDeadLetter(
  broken: BrokenContainer,
  source: NamedSource,
  now: Micros,
): Omit<DeadLetter, 'id' | 'decision'> {
  return {
    kind: 'container',
    code: 'broken_container',
    source: source.name,
    sourceKind: source.kind.kind,
    lane: source.kind.kind,
    offset: 0,
    cursor: null,
    place: JSON.stringify(source.kind.placeOf({ lane: '', offset: 0 })),
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
