import {
  allowInsecureRequests,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
} from 'oauth4webapi';
import { AnswerFailure } from '../network/failure.ts';
import { requestOnce } from '../network/json-client.ts';
import { readBody } from '../network/refused.ts';
import { describeError } from '../network/server-options.ts';
import type { SourceLogger } from '../source.ts';
import { NAMES, type OauthSettings } from './settings.ts';

/** Where the tokens of requests come from. */
export interface Tokens {
  /** Null where none is used. Throws AnswerFailure where there should be one. */
  get(signal: AbortSignal): Promise<string | null>;
  /** The one given last was not taken. */
  refused(): void;
  /** When a stream should ask for a new one, by our clock; null where that is not known. */
  renewAt(): number | null;
}

/** Of a token whose server does not say. */
const LIFETIME_S = 300;
/** A new one is asked for in the last part of a token's life, so that there is time to try again. */
const RENEWED_AFTER = 0.8;
/** With a token that is still good, how soon a renewal that failed is tried again. */
const TRY_AGAIN_MS = 10_000;
/** A token that ends at once would have its stream opened again without a pause. */
const RENEWED_AFTER_MS_MIN = 1_000;
const ANSWER_BYTES_MAX = 1_048_576;
const ANSWER_TIMEOUT_MS = 30_000;

interface Token {
  readonly text: string;
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Tokens by the grant of client credentials (RFC 6749, section 4.4), each used until shortly before its end. */
export function createOauthTokens(
  oauth: OauthSettings,
  { ca, logger }: { ca: string | null; logger: SourceLogger },
): Tokens {
  if (oauth.tokenUrl.startsWith('http:'))
    logger.warn({ url: oauth.tokenUrl }, `${oauth.tokenUrl} is not encrypted: the secret of this client can be read`);
  let known: Token | null = null;
  let asking: Promise<Token> | null = null;

  return {
    async get(signal) {
      const now = Date.now();
      if (known !== null && now < known.renewAt) return known.text;
      try {
        asking ??= askToken(oauth, { ca, signal }).finally(() => {
          asking = null;
        });
        known = await asking;
      } catch (error) {
        if (known === null || now >= known.expiresAt || signal.aborted) throw error;
        logger.warn({ err: error }, `the token is not renewed yet: ${(error as Error).message}`);
        known = { ...known, renewAt: now + TRY_AGAIN_MS };
      }
      return known.text;
    },
    refused() {
      known = null;
    },
    renewAt: () => known?.renewAt ?? null,
  };
}

async function askToken(
  { tokenUrl, clientId, clientSecret, audience, scope }: OauthSettings,
  { ca, signal }: { ca: string | null; signal: AbortSignal },
): Promise<Token> {
  const [server, client] = [{ issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }, { client_id: clientId }];
  const parameters = { ...(audience !== null && { audience }), ...(scope !== null && { scope }) };
  const askedAt = Date.now();
  try {
    const response = await clientCredentialsGrantRequest(server, client, ClientSecretPost(clientSecret), parameters, {
      [customFetch]: fetchWith(ca),
      [allowInsecureRequests]: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
    });
    const { access_token: text, expires_in: seconds = LIFETIME_S } = await processClientCredentialsResponse(
      server,
      client,
      response,
    );
    const lifeMs = (seconds > 0 ? seconds : LIFETIME_S) * 1000;
    const renewAt = Math.max(askedAt + lifeMs * RENEWED_AFTER, Date.now() + RENEWED_AFTER_MS_MIN);
    return { text, renewAt, expiresAt: askedAt + lifeMs };
  } catch (error) {
    if (signal.aborted) throw error;
    // The rest of it may hold the whole answer.
    const { name, message } = error as Error;
    const cause = Object.assign(new Error(message), { name });
    throw new AnswerFailure(`${tokenUrl}: gives no token: ${saidBy(error as Error)}`, { cause });
  }
}

/** What the server of tokens says, or what was wrong with the connection to it. */
function saidBy(error: Error & { readonly error?: unknown; readonly error_description?: unknown }): string {
  const said = [error.error, error.error_description].filter((part) => typeof part === 'string');
  return said.length > 0 ? said.join(': ') : describeError(error, { ca: null, names: NAMES });
}

/** As fetch, with authorities of our own, bounded, and without following redirects: the request has a secret in it. */
function fetchWith(ca: string | null) {
  return async (
    url: string,
    { method, headers, body, signal }: { method: string; headers: object; body?: unknown; signal?: AbortSignal },
  ): Promise<Response> => {
    const options = { method, headers: { ...headers }, ...(signal && { signal }), ...(ca !== null && { ca }) };
    const response = await requestOnce(new URL(url), options, String(body ?? ''));
    const bytes = await readBody(response, ANSWER_BYTES_MAX);
    if (bytes === null) throw new Error(`answers with more than ${ANSWER_BYTES_MAX} bytes`);
    const type = response.headers['content-type'] ?? '';
    return new Response(new Uint8Array(bytes), {
      status: response.statusCode ?? 0,
      headers: { 'content-type': type },
    });
  };
}
