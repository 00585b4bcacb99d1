import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { isObject, jsonOrNull } from '../../json/untrusted.ts';
import { AnswerFailure, createJsonClient, type ReadError, shortened } from '../network/json-client.ts';
import type { LedgerApiSettings, OauthSettings } from '../network/network-settings.ts';
import type { SourceLogger } from '../source.ts';
import { CA_SETTING } from './participant-errors.ts';

/** The tokens of requests to a participant. */
export interface Tokens {
  /** Null where none is used. Throws AnswerFailure where there should be one. */
  get(signal: AbortSignal): Promise<string | null>;
  /** The participant refused the last one. */
  refused(): void;
}

/** It becomes part of a header; none is nearly as long as the maximum. */
const TOKEN = z
  .string()
  .max(65_536)
  .regex(/^[\x21-\x7e]+$/);
const TOKEN_ANSWER = z.object({ access_token: TOKEN, expires_in: z.unknown() });
/** Of a token whose server does not say. */
const LIFETIME_S = 300;
/** Also the pause after a renewal that failed. */
const ANSWER_TIMEOUT_MS = 30_000;
/** The part of a token's life in which it is used. */
const RENEWED_AFTER = 0.9;

export function createTokens({ url, tokenFile, oauth, ca }: LedgerApiSettings, logger: SourceLogger): Tokens {
  const isSent = tokenFile !== null || oauth !== null;
  if (isSent && url.startsWith('http:'))
    logger.warn({ url }, `${url} is not encrypted: the token of this participant can be read on its way`);
  if (oauth !== null) return createOauthTokens(oauth, { ca, logger });
  return {
    get: async () => (tokenFile === null ? null : readToken(tokenFile)),
    refused: () => {},
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

/** Tokens by the grant of client credentials (RFC 6749, section 4.4), each used until shortly before its end. */
export function createOauthTokens(
  { tokenUrl, clientId, clientSecret, audience, scope }: OauthSettings,
  { ca, logger }: { ca: string | null; logger: SourceLogger },
): Tokens {
  if (tokenUrl.startsWith('http:'))
    logger.warn({ url: tokenUrl }, `${tokenUrl} is not encrypted: the secret of this client can be read`);
  const form = new URLSearchParams({
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    ...(audience !== null && { audience }),
    ...(scope !== null && { scope }),
  });
  let known: { readonly token: string; readonly renewAt: number; readonly endsAt: number } | null = null;

  async function renew(signal: AbortSignal): Promise<string> {
    const now = Date.now();
    const bounds = { answerBytesMax: 2 ** 20, answerTimeoutMs: ANSWER_TIMEOUT_MS };
    using server = createJsonClient(tokenUrl, { ca, caSetting: CA_SETTING, signal, readError, ...bounds });
    const { access_token: token, expires_in: given } = await server.ask('', TOKEN_ANSWER, form);
    const lifeMs = (Number(given) > 0 ? Number(given) : LIFETIME_S) * 1000;
    known = { token, renewAt: now + lifeMs * RENEWED_AFTER, endsAt: now + lifeMs };
    return token;
  }

  return {
    get: async (signal) => {
      if (known !== null && Date.now() < known.renewAt) return known.token;
      const old = known;
      return renew(signal).catch((error: unknown) => {
        if (signal.aborted || old === null || Date.now() >= old.endsAt) throw error;
        logger.warn(
          { url: tokenUrl, err: error },
          'Could not renew the OAuth token. The current one is used until it expires.',
        );
        // Not again with each request: an answer that does not come takes as long.
        if (known === old) known = { ...old, renewAt: Math.min(old.endsAt, Date.now() + ANSWER_TIMEOUT_MS) };
        return old.token;
      });
    },
    refused() {
      known = null;
    },
  };
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
