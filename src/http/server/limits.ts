/** Limits of one connection, of those of one address, and of all. */
export interface ServerLimits {
  /** One header line may have 64 KiB (a large token); the rest is for the others. */
  readonly headerBytesMax: number;
  /** A client that takes longer to send its headers, or all of its request, is cut off. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How often the two above are checked. */
  readonly timeoutCheckMs: number;
  /** A connection without any byte for so long is closed: its client does not read. Longer than any answer may take. */
  readonly silenceTimeoutMs: number;
  /** Longer than the 60 s for which usual proxies keep a connection, so that the proxy closes it. */
  readonly keepAliveTimeoutMs: number;
  /** Each has a socket and its buffers; below the 1024 open files that many systems allow a process. */
  readonly connectionsMax: number;
  /** A third: two addresses at their limit leave room for all others. */
  readonly connectionsPerAddressMax: number;
  /**
   * Bytes of answers that clients have not read yet, above which no large answer is created: a page of contracts may have
   * many MiB, and hundreds of connections could otherwise fill the memory of the machine.
   */
  readonly waitingBytesMax: number;
  /** A quarter, so that a client that does not read its pages cannot deny them to all others. */
  readonly waitingBytesPerAddressMax: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headerBytesMax: 80 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  timeoutCheckMs: 2_000,
  silenceTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  connectionsMax: 900,
  connectionsPerAddressMax: 300,
  waitingBytesMax: 256 * 2 ** 20,
  waitingBytesPerAddressMax: 64 * 2 ** 20,
};
