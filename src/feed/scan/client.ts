import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { mayStatusPass } from '../network/failure.ts';
import { createJsonClient, type JsonClient, type JsonClientOptions } from '../network/json-client.ts';
import { type ReadError, shortened } from '../network/refused.ts';

/** The code of a Scan's error for a snapshot that it does not have; its other errors have none. */
export const SNAPSHOT_NOT_FOUND = 'SNAPSHOT_NOT_FOUND';

/** Of all answers but pages, which are parsed item by item. */
const PARSED_BYTES_MAX = 2 ** 20;

const NAMES = { url: '--scan', ca: '--scan-ca' };

export type ScanClientOptions = Pick<JsonClientOptions, 'signal' | 'answerBytesMax' | 'answerTimeoutMs'> & {
  /** PEM; null for the system's authorities. */
  readonly ca: string | null;
};

/** One Scan. */
export function createScanClient(url: string, { ca, ...options }: ScanClientOptions): JsonClient {
  return createJsonClient(url, {
    server: { ca, names: NAMES },
    readError,
    parsedBytesMax: PARSED_BYTES_MAX,
    ...options,
  });
}

const readError: ReadError = (status, body) => {
  const own = ownError(body);
  const said = shortened(own ?? body.toString());
  const [, pageSizeMax] = /Exceeded limit maximum \(\d+ > (\d+)\)/.exec(said) ?? [];
  // A 404 that is not in the words of a Scan is of what is in front of it.
  const passes = mayStatusPass(status) || (status === 404 && own === null);
  return {
    said,
    advice: status === 403 ? ': it lets in listed addresses only, and its operator has to add ours' : '',
    conduct: passes ? 'back off' : 'stop',
    code: status === 404 && own?.startsWith('Failed to find ACS snapshot') ? SNAPSHOT_NOT_FOUND : null,
    isTooMuch: status === 503 && /taking too long/.test(said),
    pageSizeMax: status === 400 && pageSizeMax !== undefined ? Number(pageSizeMax) : null,
  };
};

/** The text of a Scan's error; null where it is plain text, as of what is in front of it. */
function ownError(bytes: Buffer): string | null {
  const answer = jsonOrNull(bytes.toString());
  return isObject(answer) && typeof answer.error === 'string' ? answer.error : null;
}
