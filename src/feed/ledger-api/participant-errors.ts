import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import {
  type AboutFailure,
  AnswerFailure,
  type Conduct,
  mayStatusPass,
  type ReadError,
  shortened,
} from '../network/json-client.ts';
import type { LedgerApiSettings } from '../network/network-settings.ts';
import { FeedRefused } from '../source.ts';

/** The setting that a message about the connection names. */
export const CA_SETTING = '--ledger-api-ca';

export const PRUNED = 'PARTICIPANT_PRUNED_DATA_ACCESSED';
const PAST_END = 'OFFSET_AFTER_LEDGER_END';

/** Errors that mean something else than their status says. */
const CONDUCT_OF_CODE: Readonly<Record<string, Conduct>> = {
  ACCESS_TOKEN_EXPIRED: 'new token',
  STALE_STREAM_AUTHORIZATION: 'reconnect',
  [PRUNED]: 'stop',
  [PAST_END]: 'stop',
};

const DENIED = 7;
const UNAUTHENTICATED = 16;
/** Bad requests. An error within a stream has only a status of gRPC. */
const GRPC_STOPS = [3, 5, DENIED, 9, 11, 12];

/** Of an answer that is no 200: of the participant, or of a proxy. */
export const readError: ReadError = (status, body) => {
  const error = errorIn(jsonOrNull(body.toString()));
  return { said: error === null ? shortened(body.toString()) : saidBy(error), ...aboutOf(error, status) };
};

/** An element of a stream that is an error; null for any other. */
export function failureOfElement(url: string, element: unknown): AnswerFailure | null {
  const error = errorIn(element);
  if (error === null) return null;
  return new AnswerFailure(`${url}: the stream of updates ends: ${saidBy(error)}`, aboutOf(error, null));
}

type WireError = Readonly<Record<string, unknown>> & { readonly code: string };

function errorIn(value: unknown): WireError | null {
  return isObject(value) && typeof value.code === 'string' && !('update' in value) ? (value as WireError) : null;
}

function saidBy({ code, cause }: WireError): string {
  return shortened(typeof cause === 'string' ? `${code}: ${cause}` : code);
}

function aboutOf(error: WireError | null, status: number | null): Partial<AboutFailure> {
  const grpc = status === null ? Number(error?.grpcCodeValue) : null;
  const context = isObject(error?.context) ? error.context : {};
  const isDenied = status === 403 || grpc === DENIED;
  return { code: error?.code, context, isDenied, conduct: conductOf(error, { status, grpc }) };
}

function conductOf(error: WireError | null, { status, grpc }: { status: number | null; grpc: number | null }): Conduct {
  const ofCode = error === null ? undefined : CONDUCT_OF_CODE[error.code];
  if (ofCode !== undefined) return ofCode;
  if (status === 401 || grpc === UNAUTHENTICATED) return 'new token';
  if (status === null) return GRPC_STOPS.includes(grpc!) ? 'stop' : 'back off';
  // Without an error of the participant it is a proxy's, or the participant's plain text for a request that it cannot read.
  const stops = error === null ? status === 400 || status === 403 : !mayStatusPass(status);
  return stops ? 'stop' : 'back off';
}

/** Of a failure that stops the reading: what was found, and what to do. `offset`: behind which updates were asked for. */
export function refusalOf(
  { message, cause, about: { code, context, isDenied } }: AnswerFailure,
  { offset, parties }: { offset: number | null; parties: LedgerApiSettings['parties'] },
): FeedRefused {
  const refused = (text: string): FeedRefused => Object.assign(new FeedRefused(text), { cause });
  if (code === PRUNED) {
    const earliest = context?.earliest_offset;
    const upTo = typeof earliest === 'string' || typeof earliest === 'number' ? ` up to offset ${earliest}` : '';
    return refused(
      `the participant has removed its updates${upTo}, and these views continue behind offset ${offset}: what was between ` +
        `is lost here; begin a new --data directory with --start snapshot (${message})`,
    );
  }
  if (code === PAST_END) return pastEnd(offset, message);
  if (!isDenied) return refused(message);
  const right =
    parties === 'all'
      ? 'CanReadAsAnyParty, and ParticipantAdmin to list the parties'
      : 'CanReadAs for each of --ledger-api-parties';
  return refused(`${message}: the user of the token needs ${right}`);
}

export function pastEnd(offset: number | null, what: string): FeedRefused {
  return new FeedRefused(
    `offset ${offset}, behind which these views continue, is past the end of this participant (${what}): it is another one, ` +
      'or was restored from a backup; name the right one, or begin a new --data directory',
  );
}
