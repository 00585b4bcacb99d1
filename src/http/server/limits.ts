/** What one connection may take, and what all of them and those of one address may. */
export interface ServerLimits {
  /** One header line may have 64 KiB (a large token); with it stand the others that any client sends. */
  readonly headerBytesMax: number;
  /** A client that takes longer to send its headers, or all of its request, is cut off. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How often the two above are looked at. */
  readonly timeoutCheckMs: number;
  /** A connection on which nothing moves for so long is cut: its client does not take the answer. Longer than any read may last. */
  readonly silenceTimeoutMs: number;
  /** Longer than the 60 s for which usual proxies keep a connection, so that it is they who close it. */
  readonly keepAliveTimeoutMs: number;
  /** Each holds a socket and its buffers; below the 1024 open files that many systems allow a process. */
  readonly connectionsMax: number;
  /** A third: two addresses that take all they can leave room for everybody else. */
  readonly connectionsPerAddressMax: number;
  /**
   * Bytes of answers that their clients have not taken yet, past which no large answer is made: a page of contracts may have
   * many MiB, and without an end to it hundreds of connections could hold the memory of the whole machine.
   */
  readonly waitingBytesMax: number;
  /** A quarter, so that nobody denies pages to all others by not taking his own. */
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
