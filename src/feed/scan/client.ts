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
  const said = saidIn(body);
  const [, pageSizeMax] = /Exceeded limit maximum \(\d+ > (\d+)\)/.exec(said) ?? [];
  return new ScanFailure(`${target}: answers ${status}${where}${said === '' ? '' : ` (${said})`}`, {
    status,
    retryAfterMs,
    isTooMuch: status === 503 && /taking too long/.test(said),
    pageSizeMax: status === 400 && pageSizeMax !== undefined ? Number(pageSizeMax) : null,
  });
}

/** The text of an error, which is JSON or plain. */
function saidIn(bytes: Buffer): string {
  const text = bytes.toString();
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return shortened(error);
  } catch {
    // What is in front of a Scan, and some of its own errors, answer with plain text.
  }
  return shortened(text);
}
