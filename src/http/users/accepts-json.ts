const RANGES: ReadonlySet<string> = new Set(['*/*', 'application/*', 'application/json']);

/** Whether an Accept header lets JSON be answered: none does, and a range with q=0 excludes. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const ranges = accept.split(',').map((part) => part.split(';').map((piece) => piece.trim().toLowerCase()));
  const matching = ranges.filter(([range]) => range !== undefined && RANGES.has(range));
  const [most] = matching.sort(([a], [b]) => specificity(b!) - specificity(a!));
  return most !== undefined && !most.slice(1).some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
}

function specificity(range: string): number {
  return range === 'application/json' ? 2 : range === 'application/*' ? 1 : 0;
}
