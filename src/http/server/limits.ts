/** Limits of one connection, of those of one address, and of all. */
export const SERVER_LIMITS = {
  /** One header line may have 64 KiB (a large token); the rest is for the others. */
  headerBytesMax: 80 * 1024,
  /** A client that takes longer to send its headers, or all of its request, is cut off. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  /** How often the two above are checked. */
  timeoutCheckMs: 2_000,
  /** A connection without any byte for so long is closed: its client does not read. Longer than any answer may take. */
  silenceTimeoutMs: 60_000,
  /** Longer than the 60 s for which usual proxies keep a connection, so that the proxy closes it. */
  keepAliveTimeoutMs: 65_000,
  /** Each has a socket and its buffers; below the 1024 open files that many systems allow a process. */
  connectionsMax: 900,
  /** A third: two addresses at their limit leave room for all others. */
  connectionsPerAddressMax: 300,
  /**
   * Bytes of answers that clients have not read yet, above which no large answer is created: a page of contracts may have
   * many MiB, and hundreds of connections could otherwise fill the memory of the machine.
   */
  waitingBytesMax: 256 * 2 ** 20,
  /** A quarter, so that a client that does not read its pages cannot deny them to all others. */
  waitingBytesPerAddressMax: 64 * 2 ** 20,
};

export type ServerLimits = Readonly<typeof SERVER_LIMITS>;
