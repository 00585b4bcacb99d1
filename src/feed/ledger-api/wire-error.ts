import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { type AboutFailure, AnswerFailure, type Conduct, mayStatusPass } from '../network/failure.ts';
import { type ReadError, shortened } from '../network/refused.ts';

/** Errors that mean something else than their status says. */
const CONDUCT_OF_CODE: Readonly<Record<string, Conduct>> = {
  ACCESS_TOKEN_EXPIRED: 'new token',
  STALE_STREAM_AUTHORIZATION: 'reconnect',
  PARTICIPANT_PRUNED_DATA_ACCESSED: 'stop',
  OFFSET_AFTER_LEDGER_END: 'stop',
};

const DENIED = 7;
/** Statuses of gRPC, which are all that an error within a stream has: unauthenticated, permission denied, bad requests. */
const CONDUCT_OF_GRPC: Readonly<Record<number, Conduct>> = {
  16: 'new token',
  [DENIED]: 'stop',
  3: 'stop',
  5: 'stop',
  9: 'stop',
  11: 'stop',
  12: 'stop',
};

/** Of an answer that is no 200: of the participant, or of what is in front of it. */
export const readError: ReadError = (status, body) => {
  const error = errorIn(body);
  return { said: error === null ? shortened(body.toString()) : saidBy(error), ...aboutOf(error, status) };
};

/** An element of a stream that is an error; null for any other. */
export function failureOfElement(target: string, element: Uint8Array): AnswerFailure | null {
  const error = errorIn(element);
  if (error === null) return null;
  return new AnswerFailure(`${target}: the stream ends: ${saidBy(error)}`, aboutOf(error, null));
}

type WireError = Readonly<Record<string, unknown>> & { readonly code: string };

function errorIn(bytes: Uint8Array): WireError | null {
  const value = jsonOrNull(Buffer.from(bytes).toString());
  return isObject(value) && typeof value.code === 'string' && !('update' in value) ? (value as WireError) : null;
}

function saidBy({ code, cause }: WireError): string {
  return shortened(typeof cause === 'string' ? `${code}: ${cause}` : code);
}

function aboutOf(error: WireError | null, status: number | null): Partial<AboutFailure> {
  const isDenied = status === 403 || (status === null && error?.grpcCodeValue === DENIED);
  const context = isObject(error?.context) ? error.context : {};
  return { code: error?.code ?? null, context, isDenied, conduct: conductOf(error, status) };
}

function conductOf(error: WireError | null, status: number | null): Conduct {
  const ofCode = error === null ? undefined : CONDUCT_OF_CODE[error.code];
  if (ofCode !== undefined) return ofCode;
  if (status === null) return CONDUCT_OF_GRPC[Number(error?.grpcCodeValue)] ?? 'back off';
  if (status === 401) return 'new token';
  // Without an error of its own it is of what is in front of a participant, or its plain text for a request that it cannot read.
  if (error === null) return status === 400 || status === 403 ? 'stop' : 'back off';
  return mayStatusPass(status) ? 'back off' : 'stop';
}
