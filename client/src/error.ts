import type { Schemas } from './operations.ts';

/** A request that was not answered with success. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  /** The HTTP status; null: no whole answer came. */
  readonly status: number | null = null;
  /** What is wrong, for programs. */
  readonly code: Schemas['OwnError']['code'] | undefined = undefined;
  /** The first snapshot there is, if it is after the time asked for. */
  readonly nearest: string | undefined = undefined;
  /** How long the service asks to wait before the next attempt. */
  readonly retryAfterMs: number | null = null;

  constructor(message: string, { cause, ...fields }: ErrorOptions & Partial<HoldfastErrorFields> = {}) {
    super(message, { cause });
    Object.assign(this, fields);
  }

  /** The same request may succeed later. 501: the store has no such answers. */
  get isTemporary(): boolean {
    return this.status === null || this.status === 429 || (this.status >= 500 && this.status !== 501);
  }
}

type HoldfastErrorFields = Pick<HoldfastError, 'status' | 'code' | 'nearest' | 'retryAfterMs'>;

/** The error of a response without success. */
export async function errorOf(response: Response): Promise<HoldfastError> {
  const { status, statusText, headers } = response;
  const retryAfterMs = Number(headers.get('retry-after')) * 1000 || null;
  // Of a proxy it may be anything.
  const body: Partial<Schemas['OwnError']> = (await response.json().catch(() => null)) ?? {};
  const message = body.error ?? `${status} ${statusText}`.trim();
  return new HoldfastError(message, { status, retryAfterMs, code: body.code, nearest: body.nearest });
}
