/** Which participant to read, for which parties, and how to reach it. */
export interface LedgerApiSettings {
  /** Below which its operations are, without a slash at the end. */
  readonly url: string;
  /** The owners to follow; `all`: the local parties as the participant lists them. */
  readonly parties: readonly string[] | 'all';
  /** A file of its token, read again for each connection; null: none. */
  readonly tokenFile: string | null;
  readonly oauth: OauthSettings | null;
  /** PEM of the authorities that may sign its certificate; null for the system's. */
  readonly ca: string | null;
  /** Where to begin in an empty directory. */
  readonly start: 'snapshot' | 'beginning';
}

/** Client credentials, for a token that is renewed in time. */
export interface OauthSettings {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string | null;
  readonly scope: string | null;
}

/** Its name in messages. */
export function ledgerApiName(url: string): string {
  return `Ledger API ${url}`;
}

/** The settings that a message about the connection names. */
export const NAMES = { url: '--ledger-api', ca: '--ledger-api-ca' };
