/** Whether JSON text nests more levels than that, without parsing it. */
export function isDeeperThan(text: string, depthMax: number): boolean {
  // Nearly every request has fewer brackets than the levels allowed, and needs no look at each character.
  if (!hasMoreThan(text, '[', depthMax / 2) && !hasMoreThan(text, '{', depthMax / 2)) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > depthMax) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

function hasMoreThan(text: string, character: string, count: number): boolean {
  let at = -1;
  for (let found = 0; found <= count; found++) {
    at = text.indexOf(character, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The index of the quote that ends the string which begins at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1;
  return i;
}
