/** Where the tokens of requests come from. */
export interface Tokens {
  /** Null where none is used. Throws AnswerFailure where there should be one. */
  get(signal: AbortSignal): Promise<string | null>;
  /** The one given last was not taken. */
  refused(): void;
  /** When a stream should ask for a new one, by our clock; null where that is not known. */
  renewAt(): number | null;
}
