interface NetworkSettings {
  /** PEM of the authorities that may sign the servers' certificates; null for the system's. */
  readonly ca: string | null;
  /** Where to begin in an empty directory. */
  readonly start: 'snapshot' | 'beginning';
}

/** Which Scans to read and how to reach them. */
export interface ScanSettings extends NetworkSettings {
  /** Each with the path below which its operations are: `https://scan.example/api/scan`. */
  readonly urls: readonly string[];
  /** Updates asked for at once. */
  readonly pageSize: number;
  /** How long to wait at the end, before it is asked for more. */
  readonly pollIntervalMs: number;
  /** A Scan that shows nothing for longer than this, where another one has more, is no longer read. */
  readonly readyLagMaxMs: number;
  /** How often the other Scans are asked whether they have more: a minute where it is left out. */
  readonly checkIntervalMs?: number;
}

/** Which participant to read, for which parties, and how to reach it. */
export interface LedgerApiSettings extends NetworkSettings {
  /** Below which its operations are, without a slash at the end. */
  readonly url: string;
  /** The owners to follow; `all`: the local parties as the participant lists them. */
  readonly parties: readonly string[] | 'all';
  /** Whether holdings of the token standard are asked for too. */
  readonly tokens: boolean;
  /** A file of its token, read again for each connection; null: none. */
  readonly tokenFile: string | null;
  readonly oauth: OauthSettings | null;
}

/** Client credentials, for a token that is renewed in time. */
export interface OauthSettings {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string | null;
  readonly scope: string | null;
}
