/** Reads RFC 4180 by its grammar, character by character; throws at anything that is not in it. The first record is the header. */
export function readCsv(text: string): {
  readonly header: readonly string[];
  readonly rows: readonly Readonly<Record<string, string>>[];
} {
  let at = 0;
  const records: string[][] = [];
  while (at < text.length) records.push(record());
  const [header, ...rows] = records;
  if (header === undefined) throw new Error('no header');
  return {
    header,
    rows: rows.map((fields) => {
      if (fields.length !== header.length) throw new Error(`${fields.length} fields, and ${header.length} names`);
      return Object.fromEntries(fields.map((field, i) => [header[i]!, field]));
    }),
  };

  function record(): string[] {
    const fields = [field()];
    while (text[at] === ',') {
      at += 1;
      fields.push(field());
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no CRLF at ${at}`);
    at += 2;
    return fields;
  }

  function field(): string {
    const start = at;
    if (text[at] === '"') return quoted();
    while (at < text.length && !',"\r\n'.includes(text[at]!)) at += 1;
    return text.slice(start, at);
  }

  function quoted(): string {
    let value = '';
    for (at += 1; ; at += 1) {
      if (at >= text.length) throw new Error('a quote without its end');
      if (text[at] !== '"') value += text[at];
      else if (text[at + 1] === '"') {
        value += '"';
        at += 1;
      } else {
        at += 1;
        return value;
      }
    }
  }
}
