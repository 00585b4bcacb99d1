import { HoldingsFault, type HoldingsFaultCode } from '../holdings/holdings-fault.ts';
import { HttpFault } from './routing.ts';

const STATUS: Readonly<Record<HoldingsFaultCode, number>> = {
  no_snapshot_in: 404,
  no_snapshot_at: 404,
  no_snapshot_before: 404,
  no_snapshot_after: 404,
  no_migration: 404,
  no_dso: 404,
  no_open_round: 400,
  not_followed: 400,
  unknown_token: 400,
  wrong_parameter: 400,
  page_too_large: 400,
  number_too_large: 400,
  read_too_long: 503,
  not_begun: 503,
  store_unavailable: 503,
};

/** For what may pass by itself; a read that took too long would take as long again. */
const RETRY_AFTER: Readonly<Partial<Record<HoldingsFaultCode, string>>> = { not_begun: '10', store_unavailable: '10' };

/** The HTTP fault of a question that has no answer; any other error is passed on unchanged. */
export function throwAsHttpFault(error: unknown): never {
  if (!(error instanceof HoldingsFault)) throw error;
  const retryAfter = RETRY_AFTER[error.code];
  throw new HttpFault(STATUS[error.code], error.message, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
}
