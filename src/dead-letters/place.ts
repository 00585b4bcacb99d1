import type { DeadLetterFacts } from '../views/store/dead-letters.ts';

/** Where a message stood, for people. */
export function placeOf({ kind, source, partition, offset }: DeadLetterFacts): string {
  const name = sourceName(source);
  if (kind === 'container') return name;
  return partition < 0 ? `${name}, message ${offset}` : `${name}, partition ${partition}, offset ${offset}`;
}

export function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source;
}
