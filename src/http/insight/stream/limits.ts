/** Limits of one stream, of those of one address, and of all. */
export interface StreamLimits {
  /** Each has a connection, and of those there may be 900. */
  readonly streamsMax: number;
  /** Tabs of one browser, or programs of one machine; a proxy that is trusted has none of its own. */
  readonly streamsPerAddressMax: number;
  readonly ownersMax: number;
  /** A client that takes nothing of what waits for it in so long is cut: it can resume. */
  readonly takeTimeoutMs: number;
  /** More waits for no client. What is read ahead for one is less, unless amounts have thousands of digits. */
  readonly heldBytesMax: number;
  /** A comment is sent after so long without a byte; usual proxies cut what is silent for 60 s. */
  readonly silenceMs: number;
  /** Between two statuses of one phase. */
  readonly statusIntervalMs: number;
  /** Between two snapshots while the service is behind its source. */
  readonly behindIntervalMs: number;
  /** A client that is further behind gets the newest snapshot instead: a week of the default period. */
  readonly snapshotsBehindMax: number;
}

export const STREAM_LIMITS: StreamLimits = {
  streamsMax: 500,
  streamsPerAddressMax: 20,
  ownersMax: 100,
  takeTimeoutMs: 10_000,
  heldBytesMax: 256 * 1024,
  silenceMs: 15_000,
  statusIntervalMs: 5_000,
  behindIntervalMs: 1_000,
  snapshotsBehindMax: 1_000,
};
