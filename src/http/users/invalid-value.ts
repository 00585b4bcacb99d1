import { HttpFault } from '../server/http-fault.ts';

/**
 * 400 for something that cannot be decoded; `place` is for example `query parameter pageSize` or `body`. Like every HttpFault
 * of this area it is answered in plain text, not with the error body of the JSON Ledger API.
 */
export function invalidValue(place: string, reason?: string): HttpFault {
  return new HttpFault(400, `Invalid value for: ${place}${reason === undefined ? '' : ` (${reason})`}`);
}
