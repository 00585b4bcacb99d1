import { parseAccept } from 'hono/utils/accept';

/** From the one that counts most: the others count only where it is not given. */
const RANGES = ['application/json', 'application/*', '*/*'];

/** Whether an Accept header lets JSON be answered: none does, and a range with q=0 excludes. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const given = parseAccept(accept);
  const most = RANGES.map((range) => given.find(({ type }) => type.toLowerCase() === range)).find(
    (found) => found !== undefined,
  );
  return most !== undefined && most.q > 0;
}
