/** Field 1 of the reference's protobuf message, a text: the last user id of the page before. */
const FIELD_TAG = 0x0a;
const URL_SAFE = /^[A-Za-z0-9_-]*={0,2}$/;

/** URL-safe base64 with padding of the message: `user2` is `CgV1c2VyMg==`. User ids have at most 128 characters. */
export function encodePageToken(lastUserId: string): string {
  const id = Buffer.from(lastUserId, 'utf8');
  const length = id.length < 0x80 ? [id.length] : [(id.length & 0x7f) | 0x80, id.length >> 7];
  return Buffer.concat([Buffer.from([FIELD_TAG, ...length]), id])
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** The user id of a token, with or without padding; null for anything else. */
export function decodePageToken(token: string): string | null {
  if (!URL_SAFE.test(token)) return null;
  const bare = token.replace(/=+$/, '');
  if (bare.length % 4 === 1) return null;
  if (bare.length !== token.length && token.length % 4 !== 0) return null;
  const bytes = Buffer.from(bare, 'base64url');
  const long = (bytes[1] ?? 0) >= 0x80;
  const start = long ? 3 : 2;
  const length = long ? (bytes[1]! & 0x7f) | ((bytes[2] ?? 0) << 7) : bytes[1];
  if (bytes[0] !== FIELD_TAG || length === 0 || bytes.length - start !== length) return null;
  return bytes.toString('utf8', start);
}
