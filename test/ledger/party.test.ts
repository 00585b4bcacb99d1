import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPartyId } from '../../src/ledger/ledger-ids.ts';

/** The rule of the holdings interface as one expression. */
const RULE = /^((?:(?!::)[A-Za-z0-9:\-_ ]){1,185})::((?:(?!::)[A-Za-z0-9:\-_ ]){1,68})$/;

describe('isPartyId', () => {
  it.each([
    ['alice::1220', true],
    ['a b-c_d:e::1:2', true],
    ['a:::b', true],
    [`${'a'.repeat(185)}::${'b'.repeat(68)}`, true],
    [`${'a'.repeat(186)}::${'b'.repeat(67)}`, false],
    [`${'a'.repeat(184)}::${'b'.repeat(69)}`, false],
    ['alice', false],
    ['alice:1220', false],
    ['::1220', false],
    ['alice::', false],
    ['a::b::c', false],
    ['a::::b', false],
    ['álice::1220', false],
    ['alice.x::1220', false],
    ['alice::1220\n', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(isPartyId(text)).toBe(expected);
  });

  it('is the rule, for any text', () => {
    const text = fc.array(fc.constantFrom(':', '::', 'a', '-', ' ', '.', 'é', 'a'.repeat(60)), { maxLength: 8 });
    fc.assert(
      fc.property(text, (parts) => {
        const party = parts.join('');
        expect(isPartyId(party)).toBe(party.length <= 255 && RULE.test(party));
      }),
      { numRuns: 5000 },
    );
  });
});
