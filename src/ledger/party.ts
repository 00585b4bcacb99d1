const PARTY_CHARS_MAX = 255;
const PARTY = /^((?:(?!::)[A-Za-z0-9:\-_ ]){1,185})::((?:(?!::)[A-Za-z0-9:\-_ ]){1,68})$/;

export const PARTY_EXPECTED = 'a party id, <name>::<fingerprint> of letters, digits, ":", "-", "_" and space';

/** `<1-185 chars>::<1-68 chars>`, split at the first `::`, no second one, at most 255 characters (holdings-api.md). */
export function isPartyId(text: string): boolean {
  return text.length <= PARTY_CHARS_MAX && PARTY.test(text);
}
