/** How to reach a server, and which options of ours say so. */
export interface ServerOptions {
  /** PEM of the authorities that may sign its certificate; null for the system's. */
  readonly ca: string | null;
  /** The options' names: of its address, and of the file of the authorities. */
  readonly names: { readonly url: string; readonly ca: string };
}

const UNKNOWN_AUTHORITY = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
];

/** What Node says of an answer that ends before its end, in words that name the server's part in it. */
const IN_WORDS: Readonly<Record<string, string>> = {
  aborted: 'its answer was cut off',
  'socket hang up': 'closed the connection before it answered',
};

/** What went wrong with a connection, and which of our options may fix it, by Node's code for an error of TLS. */
export function describeError({ code = '', message }: NodeJS.ErrnoException, { names }: ServerOptions): string {
  const what = IN_WORDS[message] ?? (message || code);
  if (code.startsWith('Z_')) return `its answer is no gzip, or cut off: ${what}`;
  if (UNKNOWN_AUTHORITY.includes(code))
    return `${what}: ${names.ca} names the file of the authority that signed its certificate`;
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? `${what}: ${names.url} gives another name than its certificate`
    : what;
}
