const PARTY_CHARS_MAX = 255;
const NAME_CHARS_MAX = 185;
const FINGERPRINT_CHARS_MAX = 68;
const CHARS = /^[A-Za-z0-9:\-_ ]+$/;

export const PARTY_EXPECTED =
  'a party id, <1-185 characters>::<1-68 characters> of letters, digits, ":", "-", "_" and space, without another "::"';

/** `<1-185 chars>::<1-68 chars>`, split at the first `::`, no second one, at most 255 characters. */
export function isPartyId(text: string): boolean {
  const nameEnd = text.indexOf('::');
  const fingerprintLength = text.length - nameEnd - 2;
  return (
    text.length <= PARTY_CHARS_MAX &&
    nameEnd >= 1 &&
    nameEnd <= NAME_CHARS_MAX &&
    fingerprintLength >= 1 &&
    fingerprintLength <= FINGERPRINT_CHARS_MAX &&
    text.indexOf('::', nameEnd + 2) === -1 &&
    CHARS.test(text)
  );
}
