import { describe, expect, it } from 'vitest';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import type { CoinCreate, RoundCreate } from '../../src/ledger/update.ts';
import * as messages from '../support/decode/messages.ts';
import { ALICE, change, DSO, decodeUpdate, faultOf, onlyCoin } from '../support/decode/messages.ts';

describe('a coin create', () => {
  it.each([
    ['scan', messages.scanTransaction, 2],
    ['ledger-api', messages.ledgerApiTransaction, 2],
  ])('of the format %s has its terms, its node and its template', (_format, message, node) => {
    const coin = decodeUpdate(message()).events.find((event): event is CoinCreate => event.contractId === 'c2');
    expect(coin).toMatchObject({ dso: DSO, signatories: [DSO, ALICE] });
    expect(coin?.body).toEqual({
      entity: 'Amulet',
      owner: ALICE,
      amount: 425_000_000_000n,
      rate: 25_000_000n,
      round: 1_207n,
      createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 891) * 1000 + 11,
      node,
      templateId: messages.template('Amulet'),
      packageName: 'splice-amulet',
      extra: null,
    });
  });

  it.each([
    ['initialAmount', '1E-10', { amount: 1n }],
    ['initialAmount', '9.999E-7', { amount: 9999n }],
    ['initialAmount', '9999999999999999999999999999.9999999999', { amount: 10n ** 38n - 1n }],
    ['initialAmount', '007', { amount: 70_000_000_000n }],
    ['ratePerRound/rate', '0E-10', { rate: 0n }],
    ['ratePerRound/rate', '0', { rate: 0n }],
    ['createdAt/number', '0', { round: 0n }],
    ['createdAt/number', 5, { round: 5n }],
    ['createdAt/number', 9007199254740991, { round: 9007199254740991n }],
    ['createdAt/number', '9223372036854775807', { round: 2n ** 63n - 1n }],
  ])('whose %s is %j', (field, value, expected) => {
    const message = change(messages.scanImport(), `events_by_id/u:0/create_arguments/amount/${field}`, value);
    expect(onlyCoin(message)).toMatchObject(expected);
  });

  it('is validated no further than its dso at first: other faults are kept in the event', () => {
    const message = change(messages.scanImport(), 'events_by_id/u:0/create_arguments', { dso: 'other::1220' });
    change(message, 'events_by_id/u:0/signatories', 'nobody');
    const [create] = decodeUpdate(message).events as CoinCreate[];
    expect(create?.dso).toBe('other::1220');
    expect(create?.signatories).toBeInstanceOf(BadUpdate);
    expect(create?.body).toBeInstanceOf(BadUpdate);
  });

  it('says only about what was given of a number that is rounded, and all of one in a payload', () => {
    const message = change(messages.scanImport(), 'migration_id', 9007199254740992);
    expect(faultOf(message)?.message).toBe(
      'migration_id: given about 9007199254740992, expected a whole number of 0 or more',
    );
    const number = JSON.stringify(messages.scanImport()).replace('"1207"', '9007199254740993');
    expect(faultOf(number)?.message).toMatch(
      /number: given 9007199254740993, expected a whole number .* as a string from 2\^53 on$/,
    );
  });

  it.each([
    ['1207.0', 1207n],
    ['12.07e2', 1207n],
    ['-0', 0n],
    ['1207.00000000000000000001', null],
    ['9007199254740991.4', null],
    ['-1', null],
    ['1e30', null],
    [`0.${'0'.repeat(1_000_000)}1`, null],
  ])('whose round is the JSON number %s', (number, round) => {
    const text = JSON.stringify(messages.scanImport()).replace('"1207"', number);
    if (round === null) expect(faultOf(text)?.message).toContain(`number: given ${number.slice(0, 100)}`);
    else expect(onlyCoin(text).round).toBe(round);
  });

  it.each([
    ['7', null],
    ['x'.repeat(255), null],
    ['x'.repeat(256), 'contract_id'],
    ['\ud800', 'contract_id'],
    ["':--; DROP TABLE", null],
  ])('whose contract id is %j', (id, field) => {
    const message = change(messages.scanImport(), 'events_by_id/u:0/contract_id', id);
    expect(faultOf(message)?.field).toBe(field === null ? undefined : `events_by_id["u:0"].${field}`);
    if (field === null) expect(decodeUpdate(message).events[0]?.contractId).toBe(id);
  });
});

describe('which template is ours', () => {
  it.each([
    ['p:Splice.Amulet:Amulet', 'splice-amulet', 'Amulet'],
    ['p:Splice.Amulet:LockedAmulet', 'splice-amulet', 'LockedAmulet'],
    ['#splice-amulet:Splice.Amulet:Amulet', undefined, 'Amulet'],
    ['#splice-amulet:Splice.Amulet:Amulet', null, 'Amulet'],
    ['#package-name:Splice.Amulet:Amulet', 'splice-amulet', 'Amulet'],
    ['#splice-amulet:Splice.Amulet:Amulet', 'other', 'other package'],
    ['#other:Splice.Amulet:Amulet', undefined, 'other package'],
    ['p:Splice.Amulet:Amulet', 'splice-amulet-2', 'other package'],
    ['p:Splice.Amulet:ValidatorRight', 'splice-amulet', 'other template'],
    ['p:Splice.Amulet:ValidatorRight', undefined, 'other template'],
    ['p:XSplice.Amulet:Amulet', 'splice-amulet', 'other template'],
    ['p:Splice.Round:Amulet', 'splice-amulet', 'other template'],
    ['p:splice.amulet:Amulet', 'splice-amulet', 'other template'],
    // Neither is a control character: the two separators are of the categories Zl and Zs, the soft hyphen of Cf.
    ['p\u2028\u00a0\u00ad:Splice.Amulet:Amulet', 'splice-amulet', 'Amulet'],
  ])('%s of package %s: %s', (templateId, packageName, expected) => {
    const message = change(messages.scanImport(), 'events_by_id/u:0/template_id', templateId);
    change(message, 'events_by_id/u:0/package_name', packageName);
    if (expected === 'LockedAmulet') change(message, 'events_by_id/u:0/create_arguments', messages.lockedArguments());
    const { events, ignored } = decodeUpdate(message);
    expect(events.map(({ kind }) => kind)).toEqual(expected.startsWith('other') ? [] : [expected]);
    expect(ignored).toEqual(expected.startsWith('other') ? [expected] : []);
  });

  it('takes any consuming exercise and any archive of one, under any package id', () => {
    const message = change(
      messages.bareTransaction(),
      'events/0/ArchivedEvent/templateId',
      'q:Splice.Round:OpenMiningRound',
    );
    expect(decodeUpdate(message).events[0]).toEqual({ kind: 'archive', entity: 'OpenMiningRound', contractId: 'c1' });
  });
});

describe('a round create', () => {
  const roundOf = (message: unknown): RoundCreate =>
    decodeUpdate(message).events.find((event): event is RoundCreate => event.kind === 'OpenMiningRound')!;

  it('has the same content in both formats, however they print Decimals and times', () => {
    const scan = messages.scanTransaction();
    change(scan, 'events_by_id/u:11/create_arguments/amuletPrice', '7.5E-2');
    change(scan, 'events_by_id/u:11/created_at', '2026-03-04T05:06:07.8910110Z'.replace('0Z', 'Z'));
    const [a, b] = [roundOf(scan), roundOf(messages.bareTransaction())];
    expect(a).toMatchObject({ dso: DSO, signatories: [DSO], body: { round: 31n } });
    expect(a.body).toEqual(b.body);
  });

  it('has another content when anything else is said', () => {
    const message = change(
      messages.scanTransaction(),
      'events_by_id/u:11/create_arguments/amuletPrice',
      '0.0750000001',
    );
    expect(roundOf(message).body).not.toEqual(roundOf(messages.scanTransaction()).body);
  });

  it('is not mistaken for another one by a number that a double rounds', () => {
    const priced = (price: string): unknown =>
      roundOf(JSON.stringify(messages.scanTransaction()).replace('"0.0750000000"', price)).body;
    expect(priced('0.10000000000000000001')).not.toEqual(priced('0.1'));
    expect(priced('9007199254740993')).not.toEqual(priced('9007199254740992'));
    expect(priced('0.10')).toEqual(priced('1e-1'));
  });
});
