const IDENTITY = /^(identity)?$/i;

/** How a request says its body is compressed, of which nothing is read; null where it is as it stands. */
export function contentCoding(header: string | undefined): string | null {
  return header === undefined || IDENTITY.test(header) ? null : header.slice(0, 100);
}
