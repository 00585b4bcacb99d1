import { parseAccept } from 'hono/utils/accept';

/** Media ranges from the most specific: a less specific one counts only where this is not given. */
const RANGES = ['application/json', 'application/*', '*/*'];

/** Whether an Accept header allows JSON: no header does, and a range with q=0 does not. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const given = parseAccept(accept);
  const most = RANGES.map((range) => given.find(({ type }) => type.toLowerCase() === range)).find(
    (found) => found !== undefined,
  );
  return most !== undefined && most.q > 0;
}
