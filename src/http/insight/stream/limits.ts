/** Limits of one stream, of those of one address, and of all. */
export const STREAM_LIMITS = {
  /** Each has a connection, and of those there may be 900. */
  streamsMax: 500,
  /** Tabs of one browser, or programs of one machine; a proxy that is trusted has none of its own. */
  streamsPerAddressMax: 20,
  ownersMax: 100,
  /** A client that takes nothing of what waits for it in so long is cut: it can resume. */
  takeTimeoutMs: 10_000,
  /** More waits for no client. What is read ahead for one is less, unless amounts have thousands of digits. */
  heldBytesMax: 256 * 1024,
  /** A comment is sent after so long without a byte; usual proxies cut what is silent for 60 s. */
  silenceMs: 15_000,
  /** Between two statuses of one phase. */
  statusIntervalMs: 5_000,
  /** Between two snapshots while the service is behind its source. */
  behindIntervalMs: 1_000,
  /** A client that is further behind gets the newest snapshot instead: a week of the default period. */
  snapshotsBehindMax: 1_000,
};

export type StreamLimits = Readonly<typeof STREAM_LIMITS>;
