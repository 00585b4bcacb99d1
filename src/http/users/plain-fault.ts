/**
 * A request that fails before the rules for users see it: its parameters, headers or body cannot be decoded, or it
 * is too large or too frequent. Answered with plain text or nothing, not with the error body of the JSON Ledger API.
 */
export class PlainFault extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'PlainFault';
    this.status = status;
    this.headers = headers;
  }
}

/** 400 for something that cannot be decoded; `place` is such as `query parameter pageSize` or `body`. */
export function invalidValue(place: string, reason?: string): PlainFault {
  return new PlainFault(400, `Invalid value for: ${place}${reason === undefined ? '' : ` (${reason})`}`);
}
