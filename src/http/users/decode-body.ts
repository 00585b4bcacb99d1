import type { z } from 'zod';
import { invalidValue } from './plain-fault.ts';

/** Deeper nesting serves no request of this area, and costs whoever walks it. */
const DEPTH_MAX = 64;
/** More than any request has a reason to hold; many small values cost far more time than their bytes. */
const VALUES_MAX = 200_000;
const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** A body by its schema; throws a 400 in plain text for what is no JSON, too deep, or of another form. */
export function decodeBody<Body>(schema: z.ZodType<Body>, bodyText: string): Body {
  const fault = shapeFault(bodyText);
  if (fault !== null) throw invalidValue('body', fault);
  let value: unknown;
  try {
    value = JSON.parse(bodyText);
  } catch {
    throw invalidValue('body', `expected json value, given ${bodyText === '' ? 'nothing' : 'something else'}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw invalidValue('body', path.length === 0 ? message : `${message} at '${path.map(String).join('.')}'`);
}

/** Looks at the text, so that no value too deep or too large is ever made. What stands in strings does not count. */
function shapeFault(text: string): string | null {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_OBJECT || char === OPEN_LIST) {
      depth += 1;
      if (depth > DEPTH_MAX) return `nested deeper than ${DEPTH_MAX} levels`;
    } else if (char === CLOSE_OBJECT || char === CLOSE_LIST) depth -= 1;
    else if (char === COMMA) {
      values += 1;
      if (values > VALUES_MAX) return `more than ${VALUES_MAX} values`;
    }
  }
  return null;
}
