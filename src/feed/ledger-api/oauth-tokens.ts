import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { AnswerFailure, createJsonClient, type ReadError, shortened } from '../network/json-client.ts';
import type { LedgerApiSettings, OauthSettings } from '../network/network-settings.ts';
import type { SourceLogger } from '../source.ts';
import { NAMES } from './participant-errors.ts';

/** The tokens of requests to a participant. */
export interface Tokens {
  /** Null where none is used. Throws AnswerFailure where there should be one. */
  get(signal: AbortSignal): Promise<string | null>;
  /** The participant refused the last one. */
  refused(): void;
  /** When a stream should ask for a new one, by our clock; null where that is not known. */
  renewAt(): number | null;
}

/** It becomes part of a header; none is nearly as long as the maximum. */
const TOKEN = z
  .string()
  .max(65_536)
  .regex(/^[\x21-\x7e]+$/);
const TOKEN_ANSWER = z.object({ access_token: TOKEN, expires_in: z.unknown() });
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

export function createTokens({ url, tokenFile, oauth, ca }: LedgerApiSettings, logger: SourceLogger): Tokens {
  const isSent = tokenFile !== null || oauth !== null;
  if (isSent && url.startsWith('http:'))
    logger.warn({ url }, `${url} is not encrypted: the token of this participant can be read on its way`);
  if (oauth !== null) return createOauthTokens(oauth, { ca, logger });
  return {
    get: async () => (tokenFile === null ? null : readToken(tokenFile)),
    refused: () => {},
    renewAt: () => null,
  };
}

/** Read each time: the operator renews it there. */
async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new AnswerFailure(`--ledger-api-token-file: cannot read ${file}: ${cause.message}`, { cause });
  });
  const token = TOKEN.safeParse(text.trim());
  if (token.success) return token.data;
  throw new AnswerFailure(`--ledger-api-token-file: ${file} contains no token, which is one word`);
}

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
  const form = {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    ...(audience !== null && { audience }),
    ...(scope !== null && { scope }),
  };
  const askedAt = Date.now();
  using server = createJsonClient(tokenUrl, {
    ...{ ca, names: NAMES, signal, readError },
    ...{ answerBytesMax: ANSWER_BYTES_MAX, answerTimeoutMs: ANSWER_TIMEOUT_MS },
  });
  const asked = new URLSearchParams(form);
  const { access_token: text, expires_in: given } = await server.ask('', TOKEN_ANSWER, asked);
  const lifeMs = (Number(given) > 0 ? Number(given) : LIFETIME_S) * 1000;
  const renewAt = Math.max(askedAt + lifeMs * RENEWED_AFTER, Date.now() + RENEWED_AFTER_MS_MIN);
  return { text, renewAt, expiresAt: askedAt + lifeMs };
}

/** Only its own words, because other bodies may repeat the secret; the secret may be corrected there, so each failure may pass. */
const readError: ReadError = (_, body) => {
  const answer = jsonOrNull(body.toString());
  const { error, error_description: description } = isObject(answer) ? answer : {};
  return {
    said: shortened([error, description].filter((text) => typeof text === 'string' && text !== '').join(': ')),
    conduct: 'back off',
  };
};
