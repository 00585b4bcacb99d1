import { createJsonClient, type JsonClient, type JsonClientOptions } from '../network/json-client.ts';
import { type Refused, shortened } from '../network/refused.ts';
import { ScanFailure } from './failure.ts';

const NAMES = { url: '--scan', ca: '--scan-ca' };

export type ScanClientOptions = Pick<JsonClientOptions, 'signal' | 'answerBytesMax' | 'answerTimeoutMs'> & {
  /** PEM; null for the system's authorities. */
  readonly ca: string | null;
};

/** One Scan. Throws ScanFailure for whatever is no answer. */
export function createScanClient(url: string, { ca, ...options }: ScanClientOptions): JsonClient {
  const failed: JsonClientOptions['failed'] = (message, about) => new ScanFailure(message, about);
  return createJsonClient(url, { server: { ca, names: NAMES }, failed, refused: refusalOf, ...options });
}

/** What a status other than 200 says. */
function refusalOf(target: string, { status, retryAfterMs, where, body }: Refused): ScanFailure {
  const own = ownError(body);
  const said = shortened(own ?? body.toString());
  const [, pageSizeMax] = /Exceeded limit maximum \(\d+ > (\d+)\)/.exec(said) ?? [];
  const listed = status === 403 ? ': it lets in listed addresses only, and its operator has to add ours' : '';
  return new ScanFailure(`${target}: answers ${status}${where}${said === '' ? '' : ` (${said})`}${listed}`, {
    status,
    retryAfterMs,
    isOwn: own !== null,
    isTooMuch: status === 503 && /taking too long/.test(said),
    pageSizeMax: status === 400 && pageSizeMax !== undefined ? Number(pageSizeMax) : null,
  });
}

/** The text of a Scan's error; null where it is plain text, as of what is in front of it. */
function ownError(bytes: Buffer): string | null {
  try {
    const { error } = JSON.parse(bytes.toString()) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}
