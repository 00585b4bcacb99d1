const IDENTITY = /^(identity)?$/i;

/** How a request's body is compressed, which is not supported; null where it is not. */
export function contentCoding(header: string | undefined): string | null {
  return header === undefined || IDENTITY.test(header) ? null : header.slice(0, 100);
}
