import { authorization } from './client.ts';
import type { LedgerApiSettings } from './settings.ts';
import { openStream } from './stream.ts';
import type { Tokens } from './tokens.ts';

/** Timers of Node do not wait longer than this. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface OpenedStream {
  /** Its address, for messages. */
  readonly target: string;
  /** Ends also when its token should be a new one. */
  readonly elements: AsyncGenerator<readonly Buffer[]>;
  isRenewed(): boolean;
}

/** Opens streams of one participant, each with the token of the moment. */
export interface Streams {
  open(
    path: string,
    options: { readonly request: object; readonly signal: AbortSignal; readonly onOpen?: () => void },
  ): Promise<OpenedStream>;
}

export function createStreams(
  url: string,
  { ca, tokens }: Pick<LedgerApiSettings, 'ca'> & { tokens: Tokens },
): Streams {
  return {
    async open(path, { signal, ...options }) {
      const target = `${url}${path}`;
      const headers = await authorization(tokens, signal);
      const renewAt = tokens.renewAt();
      const renewal =
        renewAt === null ? null : AbortSignal.timeout(Math.min(Math.max(renewAt - Date.now(), 0), TIMER_MS_MAX));
      const until = renewal === null ? signal : AbortSignal.any([signal, renewal]);
      const elements = openStream(target, { ...options, ca, headers, signal: until });
      return { target, elements, isRenewed: () => renewal?.aborted === true };
    },
  };
}
