/** A comment, which clients ignore. */
export const COMMENT = ':\n\n';

/** An event as it is sent. JSON has no line ends, so the data is one line. */
export function eventText(name: string, data: object, id: string | null = null): string {
  return `event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
