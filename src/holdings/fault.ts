/** Why a question has no answer. Each caller has its own table of what that means there (a status, an exit code). */
export type HoldingsFaultCode =
  | 'no_snapshot_in'
  | 'no_snapshot_at'
  | 'no_snapshot_before'
  | 'no_snapshot_after'
  | 'no_migration'
  | 'no_dso'
  | 'no_open_round'
  | 'not_followed'
  | 'unknown_token'
  /** A parameter does not fit these views. */
  | 'wrong_parameter'
  | 'page_too_large'
  | 'number_too_large'
  /** The read took longer than its time limit. */
  | 'read_too_long'
  /** The read was not begun: too many others are waiting, it waited too long, or the client has gone. */
  | 'not_begun'
  /** The store cannot be reached, or has not the form of this version. */
  | 'store_unavailable';

/** The message is for people, and uses the field names of the HTTP operations. */
export class HoldingsFault extends Error {
  readonly code: HoldingsFaultCode;

  constructor(code: HoldingsFaultCode, message: string) {
    super(message);
    this.name = 'HoldingsFault';
    this.code = code;
  }
}
