import type { Context } from 'hono';

/** Headers that let pages of other origins read the answers; every operation that only reads is open to them. */
export interface Cors {
  /** Headers for an answer to this request. */
  headers(c: Context): Readonly<Record<string, string>>;
  preflight(c: Context, methods: readonly string[]): Response;
}

/** A browser asks again after this long; so a change of the setting is seen by then. */
const PREFLIGHT_AGE_SECONDS_MAX = 600;
const NONE = {};

export function createCors(origins: readonly string[]): Cors {
  const forAll = { 'Access-Control-Allow-Origin': '*' };
  const headers = (c: Context): Readonly<Record<string, string>> => {
    if (origins.includes('*')) return forAll;
    if (origins.length === 0) return NONE;
    const origin = c.req.header('origin');
    if (origin === undefined || !origins.includes(origin)) return { Vary: 'Origin' };
    return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
  };
  return {
    headers,
    preflight: (c, methods) =>
      new Response(null, {
        status: 204,
        headers: {
          ...headers(c),
          Allow: methods.join(', '),
          'Access-Control-Allow-Methods': methods.join(', '),
          'Access-Control-Allow-Headers': c.req.header('access-control-request-headers') ?? 'Content-Type',
          'Access-Control-Max-Age': String(PREFLIGHT_AGE_SECONDS_MAX),
        },
      }),
  };
}
