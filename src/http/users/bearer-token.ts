import { invalidValue } from './invalid-value.ts';

const BEARER = /^bearer(?: +(.*))?$/i;
/** A proxy may join two lines with a comma; no token has one. */
const JOINED = /,\s*(?=bearer(?:\s|$))/i;
const PROTOCOL_PREFIX = 'jwt.token.';

/**
 * The token of a request, or null where it has none: of the Authorization header, else of an entry of
 * Sec-WebSocket-Protocol. Throws a 400 for a bearer without a token and for two bearers (docs/rules.md, tokens).
 */
export function bearerToken(headers: {
  /** Each header line separately. */
  readonly authorization: readonly string[];
  readonly webSocketProtocol: string | undefined;
}): string | null {
  const lines = headers.authorization.flatMap((line) => line.split(JOINED));
  const bearers = lines.map((line) => BEARER.exec(line.trim())).filter((match) => match !== null);
  const [bearer, second] = bearers;
  if (second !== undefined || (bearer !== undefined && !bearer[1])) throw invalidValue('header Authorization');
  if (bearer !== undefined) return bearer[1]!;
  const entries = headers.webSocketProtocol?.split(',').map((part) => part.trim());
  return entries?.find((part) => part.startsWith(PROTOCOL_PREFIX))?.slice(PROTOCOL_PREFIX.length) ?? null;
}
