import { createJsonClient, type JsonClient } from '../network/json-client.ts';
import { NAMES } from './settings.ts';
import type { Tokens } from './tokens.ts';
import { readError } from './wire-error.ts';

/** A participant's plain requests, each with the token of the moment. Throws AnswerFailure for whatever is no answer. */
export function createLedgerApiClient(
  url: string,
  { ca, tokens, signal }: { ca: string | null; tokens: Tokens; signal: AbortSignal },
): JsonClient {
  const headers = () => authorization(tokens, signal);
  return createJsonClient(url, { server: { ca, names: NAMES }, signal, headers, readError });
}

export async function authorization(tokens: Tokens, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const token = await tokens.get(signal);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
