import { createJsonClient, type JsonClient } from '../network/json-client.ts';
import type { Tokens } from './oauth.ts';
import { type LedgerApiSettings, NAMES } from './settings.ts';
import { openStream } from './stream.ts';
import { readError } from './wire-error.ts';

/** Timers of Node do not wait longer than this. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A participant: its plain requests and its streams, each with the token of the moment. */
export interface LedgerApiClient extends JsonClient {
  openStream(path: string, request: object, onOpen?: () => void): Promise<OpenedStream>;
}

export interface OpenedStream {
  /** Its address, for messages. */
  readonly target: string;
  /** Ends also when its token should be a new one. */
  readonly elements: AsyncGenerator<readonly Buffer[]>;
  isRenewed(): boolean;
}

export function createLedgerApiClient(
  { url, ca }: LedgerApiSettings,
  { tokens, signal }: { tokens: Tokens; signal: AbortSignal },
): LedgerApiClient {
  async function headers(): Promise<Readonly<Record<string, string>>> {
    const token = await tokens.get(signal);
    return token === null ? {} : { authorization: `Bearer ${token}` };
  }
  return {
    ...createJsonClient(url, { server: { ca, names: NAMES }, signal, headers, readError }),
    async openStream(path, request, onOpen = () => {}) {
      const target = `${url}${path}`;
      const own = await headers();
      const renewAt = tokens.renewAt();
      const renewal =
        renewAt === null ? null : AbortSignal.timeout(Math.min(Math.max(renewAt - Date.now(), 0), TIMER_MS_MAX));
      const until = renewal === null ? signal : AbortSignal.any([signal, renewal]);
      const elements = openStream(target, { ca, headers: own, request, onOpen, signal: until });
      return { target, elements, isRenewed: () => renewal?.aborted === true };
    },
  };
}
