import type { DeadLetterFacts } from '../views/store/dead-letters.ts';

/** Where a message came from, for people. */
export function placeText({ kind, source, place }: DeadLetterFacts): string {
  const name = sourceName(source);
  if (kind === 'container') return name;
  const facts = Object.entries(placeFacts({ place })).filter(([, value]) => value !== null);
  return [name, ...facts.map((fact) => fact.join(' '))].join(', ');
}

/** Where a message came from, for programs: under its source's names. */
export function placeFacts({
  place,
}: Pick<DeadLetterFacts, 'place'>): Readonly<Record<string, string | number | null>> {
  return JSON.parse(place) as Record<string, string | number | null>;
}

export function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source;
}
