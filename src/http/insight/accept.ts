/** Whether an Accept header names CSV and prefers it to JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const weights = new Map(accept.split(',').map(weightOf));
  return (weights.get('text/csv') ?? 0) > (weights.get('application/json') ?? 0);
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

function weightOf(range: string): readonly [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.map((text) => WEIGHT.exec(text)?.[1]).find((text) => text !== undefined);
  return [type.toLowerCase(), Number(weight ?? 1)];
}
