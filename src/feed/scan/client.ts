import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createGunzip } from 'node:zlib';
import { CONTAINER_BYTES_MAX } from '../limits.ts';
import { ScanFailure } from './failure.ts';

/** A Scan gives up after 38 s by itself; what drips in for longer than this is given up here. */
const ANSWER_TIMEOUT_MS = 90_000;
/** Of an error's body as much as a message can show. */
const SAID_BYTES_MAX = 4_096;
const SAID_CHARS_MAX = 300;

/** Which of our settings may fix it, by Node's code for an error of TLS. */
const HINTS: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: '--scan-ca names the file of the authority that signed its certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: '--scan-ca names the file of the authority that signed its certificate',
  SELF_SIGNED_CERT_IN_CHAIN: '--scan-ca names the file of the authority that signed its certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: '--scan-ca names the file of the authority that signed its certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: '--scan gives another name than its certificate',
};

/** An answer: its bytes, for what is used as it came, and what they mean. */
export interface ScanAnswer {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/** One Scan. Throws ScanFailure for whatever is no answer; answers and the time for one are bounded. */
export interface ScanClient extends Disposable {
  readonly url: string;
  /** A path below the Scan's, or below its host where it begins with `//`; with a body it is posted. */
  ask(path: string, body?: object): Promise<ScanAnswer>;
}

export interface ScanClientOptions {
  /** PEM; null for the system's authorities. */
  readonly ca: string | null;
  readonly signal: AbortSignal;
  readonly answerBytesMax?: number;
  readonly answerTimeoutMs?: number;
}

export function createScanClient(
  url: string,
  { ca, signal, answerBytesMax = CONTAINER_BYTES_MAX, answerTimeoutMs = ANSWER_TIMEOUT_MS }: ScanClientOptions,
): ScanClient {
  const isTls = url.startsWith('https:');
  const agent = isTls
    ? new HttpsAgent({ keepAlive: true, ...(ca !== null && { ca }) })
    : new HttpAgent({ keepAlive: true });
  const request = isTls ? httpsRequest : httpRequest;

  async function ask(path: string, body?: object): Promise<ScanAnswer> {
    const target = path.startsWith('//') ? new URL(path.slice(1), url) : new URL(`${url}${path}`);
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    const cannot = (what: string, cause?: unknown, isTooMuch = false): ScanFailure =>
      new ScanFailure(`${target.href}: ${what}`, { cause, isTooMuch });
    try {
      const sent = body === undefined ? null : JSON.stringify(body);
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const open = request(target, {
          method: sent === null ? 'GET' : 'POST',
          agent,
          signal: AbortSignal.any([signal, timeout]),
          headers: {
            accept: 'application/json',
            'accept-encoding': 'gzip',
            ...(sent !== null && { 'content-type': 'application/json' }),
          },
        });
        open.on('response', resolve).on('error', reject).end(sent);
      });
      if (response.statusCode !== 200) throw await refusalOf(response, target);
      const bytes = await readBody(response, answerBytesMax);
      if (bytes === null) throw cannot(`answers with more than ${answerBytesMax} bytes`, undefined, true);
      try {
        return { bytes, value: JSON.parse(bytes.toString()) as unknown };
      } catch (error) {
        throw cannot('answers with what is no JSON', error);
      }
    } catch (error) {
      if (error instanceof ScanFailure || signal.aborted) throw error;
      if (timeout.aborted) throw cannot(`has not answered within ${answerTimeoutMs / 1000} s`, error, true);
      throw cannot(describe(error as NodeJS.ErrnoException), error);
    }
  }

  return { url, ask, [Symbol.dispose]: () => agent.destroy() };
}

/** The body, unpacked; null where it is longer than the limit. */
async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  const content = encoding === 'gzip' ? unpacked(response) : response;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of content as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) {
      response.destroy();
      return null;
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function unpacked(response: IncomingMessage): NodeJS.ReadableStream {
  const gunzip = createGunzip();
  // A socket that closes early is no error of a pipe: unpacking must fail too.
  response.on('error', (error) => gunzip.destroy(error));
  return response.pipe(gunzip);
}

/** What a status other than 200 says. */
async function refusalOf(response: IncomingMessage, target: URL): Promise<ScanFailure> {
  const { statusCode: status = 0, headers } = response;
  const said = saidIn((await readBody(response, SAID_BYTES_MAX).catch(() => null)) ?? Buffer.alloc(0));
  const where = headers.location === undefined ? '' : `, which refers to ${headers.location}`;
  const [, pageSizeMax] = /Exceeded limit maximum \(\d+ > (\d+)\)/.exec(said) ?? [];
  return new ScanFailure(`${target.href}: answers ${status}${where}${said === '' ? '' : ` (${said})`}`, {
    status,
    retryAfterMs: retryAfterMs(headers['retry-after']),
    isTooMuch: status === 503 && /taking too long/.test(said),
    pageSizeMax: status === 400 && pageSizeMax !== undefined ? Number(pageSizeMax) : null,
  });
}

/** A number of seconds, or a date. */
function retryAfterMs(given: string | undefined): number | null {
  if (given === undefined) return null;
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

/** The text of an error, which is JSON or plain. */
function saidIn(bytes: Buffer): string {
  const text = bytes.toString();
  let said = text;
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') said = error;
  } catch {
    // What is in front of a Scan, and some of its own errors, answer with plain text.
  }
  return said.replaceAll(/\s+/g, ' ').trim().slice(0, SAID_CHARS_MAX);
}

function describe({ code = '', message }: NodeJS.ErrnoException): string {
  const hint = HINTS[code];
  return `${message || code}${hint === undefined ? '' : `: ${hint}`}`;
}
