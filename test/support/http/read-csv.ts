/** A field, quoted or not, and what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;

/** Reads RFC 4180; throws at anything that is not in its grammar. The first record is the header. */
export function readCsv(text: string): {
  readonly header: readonly string[];
  readonly rows: readonly Readonly<Record<string, string>>[];
} {
  const records: string[][] = [[]];
  let end = 0;
  for (const [whole, quoted, plain, separator] of text.matchAll(FIELD)) {
    records.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (separator !== ',') records.push([]);
    end += whole.length;
  }
  if (end < text.length || records.pop()!.length > 0) throw new Error(`no CSV at ${end}`);
  const [header, ...rows] = records;
  if (header === undefined) throw new Error('no header');
  const other = rows.find(({ length }) => length !== header.length);
  if (other !== undefined) throw new Error(`${other.length} fields, and ${header.length} names`);
  return { header, rows: rows.map((fields) => Object.fromEntries(fields.map((field, i) => [header[i]!, field]))) };
}
