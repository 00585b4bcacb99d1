import { createJsonClient, type JsonClient, type JsonClientOptions } from '../network/json-client.ts';
import { failureOfAnswer, LedgerApiFailure } from './failure.ts';
import { NAMES } from './settings.ts';
import type { Tokens } from './tokens.ts';

/** A participant's plain requests, each with the token of the moment. Throws LedgerApiFailure for whatever is no answer. */
export function createLedgerApiClient(
  url: string,
  { ca, tokens, signal }: { ca: string | null; tokens: Tokens; signal: AbortSignal },
): JsonClient {
  const failed: JsonClientOptions['failed'] = (message, { cause }) => new LedgerApiFailure(message, { cause });
  const headers = () => authorization(tokens, signal);
  return createJsonClient(url, { server: { ca, names: NAMES }, signal, headers, failed, refused: failureOfAnswer });
}

export async function authorization(tokens: Tokens, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const token = await tokens.get(signal);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
