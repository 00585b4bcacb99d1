/** Why a question has no answer. What each means to a caller (a status, an exit code) is the caller's own table. */
export type HoldingsFaultCode =
  | 'no_snapshot_in'
  | 'no_snapshot_at'
  | 'no_snapshot_before'
  | 'no_snapshot_after'
  | 'no_migration'
  | 'no_open_round'
  | 'unknown_token'
  | 'page_too_large'
  | 'number_too_large'
  /** The read took longer than its time limit. */
  | 'read_too_long'
  /** It was not begun: too many others are waiting, or they took too long, or nobody waits for it any more. */
  | 'not_begun';

/** The message is for people, and names what was asked by the fields of the HTTP operations. */
export class HoldingsFault extends Error {
  readonly code: HoldingsFaultCode;

  constructor(code: HoldingsFaultCode, message: string) {
    super(message);
    this.name = 'HoldingsFault';
    this.code = code;
  }
}
