import { readFile } from 'node:fs/promises';
import { AnswerFailure } from '../network/failure.ts';
import type { SourceLogger } from '../source.ts';
import { createOauthTokens, type Tokens } from './oauth.ts';
import type { LedgerApiSettings } from './settings.ts';

/** No token is nearly as long. */
const TOKEN_CHARS_MAX = 65_536;

export function createTokens(
  { url, tokenFile, oauth, ca }: LedgerApiSettings,
  { logger }: { logger: SourceLogger },
): Tokens {
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

/** Read again each time: whoever renews it writes it there. */
async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const message = `--ledger-api-token-file: cannot read ${file}: ${(error as Error).message}`;
    throw new AnswerFailure(message, { cause: error });
  });
  const token = text.trim();
  // Of a header, in which anything else would be another header.
  if (token.length <= TOKEN_CHARS_MAX && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new AnswerFailure(`--ledger-api-token-file: ${file} contains no token, which is one word`);
}
