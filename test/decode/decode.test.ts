import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../src/decode/decode.ts';
import { IGNORED_EVENTS, IGNORED_MESSAGES } from '../../src/decode/ignored.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import type { CoinCreate, LedgerEvent, RoundCreate } from '../../src/ledger/update.ts';
import * as messages from '../support/decode/messages.ts';
import { ALICE, change, DSO, decode, decodeUpdate, faultOf, onlyCoin, SYNC } from '../support/decode/messages.ts';

function outline(events: readonly LedgerEvent[]): string[] {
  return events.map((event) => `${event.kind} ${event.contractId}`);
}

describe('a Scan transaction', () => {
  it('is read depth first from its roots, children in order, whatever the order of events_by_id', () => {
    const update = decodeUpdate(messages.scanTransaction());
    expect(outline(update.events)).toEqual(['archive c1', 'coin c2', 'coin c10', 'round c11']);
    expect(update).toMatchObject({ format: 'scan', updateId: 'u', migrationId: 4, synchronizerId: SYNC });
    expect(update.recordTime).toBe(Date.UTC(2026, 2, 4, 5, 6, 8, 250) * 1000);
    expect(update.ignored).toEqual(['not consuming']);
  });

  it('puts the children of an event before its next sibling', () => {
    const message = messages.scanTransaction();
    change(message, 'events_by_id/u:0/child_event_ids', ['u:1', 'u:2']);
    change(message, 'events_by_id/u:1/child_event_ids', ['u:11', 'u:10']);
    expect(outline(decodeUpdate(message).events)).toEqual(['archive c1', 'round c11', 'coin c10', 'coin c2']);
  });

  it('may have no events at all', () => {
    const message = { ...messages.scanTransaction(), root_event_ids: [], events_by_id: {} };
    expect(decodeUpdate(message)).toMatchObject({ events: [], ignored: [] });
  });

  it('reads a chain of a hundred thousand events without recursion', () => {
    const count = 100_000;
    const events_by_id = Object.fromEntries(
      Array.from({ length: count }, (_, n) => {
        const children = n + 1 < count ? [`u:${n + 1}`] : [];
        return [`u:${n}`, messages.scanExercise(n, { consuming: true, children })];
      }),
    );
    expect(decodeUpdate({ ...messages.scanTransaction(), events_by_id }).events).toHaveLength(count);
  });

  it('is an import when its record time is the flag', () => {
    const update = decodeUpdate(messages.scanImport());
    expect(update.recordTime).toBeNull();
    expect(outline(update.events)).toEqual(['coin c0']);
  });

  it('counts an unlisted event of another template', () => {
    const other = messages.scanCreate(5, 'ValidatorRight', {});
    const message = change(messages.scanTransaction(), 'events_by_id/u:5', other);
    expect(decodeUpdate(message).ignored).toEqual(['not consuming', 'unlisted event']);
  });
});

describe('a Ledger API transaction', () => {
  it.each([
    ['wrapped', messages.ledgerApiTransaction],
    ['bare', messages.bareTransaction],
  ])('%s is read in the order of its events, in the migration of its source', (_name, message) => {
    const update = decodeUpdate(message());
    expect(outline(update.events)).toEqual(['archive c1', 'coin c2', 'coin c10', 'round c11', 'archive c12']);
    expect(update).toMatchObject({ format: 'ledger-api', updateId: 'u', migrationId: 7, synchronizerId: SYNC });
    expect(update.recordTime).toBe(Date.UTC(2026, 2, 4, 5, 6, 8, 250) * 1000);
  });

  it.each(['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'])(
    'is an import of all its creates when its record time is the flag, %s',
    (time) => {
      const message = change(messages.ledgerApiImport(), 'update/Transaction/value/recordTime', time);
      for (const each of [message, (message.update as Record<string, { value: messages.Json }>).Transaction!.value]) {
        const update = decodeUpdate(each);
        expect(update).toMatchObject({ updateId: 'u', migrationId: 7, recordTime: null });
        expect(outline(update.events)).toEqual(['coin c0', 'coin c1', 'round c2']);
      }
    },
  );

  it('ignores creates and archives that never reach the active set', () => {
    const message = messages.bareTransaction();
    for (const path of ['0/ArchivedEvent', '1/CreatedEvent', '4/ExercisedEvent']) {
      change(message, `events/${path}/acsDelta`, false);
    }
    const update = decodeUpdate(message);
    expect(outline(update.events)).toEqual(['coin c10', 'round c11']);
    expect(update.ignored).toEqual(['acsDelta false', 'acsDelta false', 'acsDelta false']);
  });

  it.each([null, undefined, true])('takes an event whose acsDelta is %s', (acsDelta) => {
    const message = change(messages.bareTransaction(), 'events/1/CreatedEvent/acsDelta', acsDelta);
    expect(outline(decodeUpdate(message).events)).toContain('coin c2');
  });

  it('ignores an exercise that consumes nothing, whatever else it says', () => {
    const message = messages.bareTransaction();
    change(message, 'events/4', { ExercisedEvent: { consuming: false } });
    expect(decodeUpdate(message).ignored).toEqual(['not consuming']);
  });

  it('reads the kind of an event past other keys that are null', () => {
    const message = messages.bareTransaction();
    change(message, 'events/0/CreatedEvent', null);
    expect(outline(decodeUpdate(message).events)[0]).toBe('archive c1');
  });
});

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

  it('is judged no further than its dso at first: what else is wrong waits in the event', () => {
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
    ['p:Splice.Amulet:Amulet', 'splice-amulet', 'coin'],
    ['p:Splice.Amulet:LockedAmulet', 'splice-amulet', 'Locked'],
    ['#splice-amulet:Splice.Amulet:Amulet', undefined, 'coin'],
    ['#splice-amulet:Splice.Amulet:Amulet', null, 'coin'],
    ['#package-name:Splice.Amulet:Amulet', 'splice-amulet', 'coin'],
    ['#splice-amulet:Splice.Amulet:Amulet', 'other', 'other package'],
    ['#other:Splice.Amulet:Amulet', undefined, 'other package'],
    ['p:Splice.Amulet:Amulet', 'splice-amulet-2', 'other package'],
    ['p:Splice.Amulet:ValidatorRight', 'splice-amulet', 'other template'],
    ['p:Splice.Amulet:ValidatorRight', undefined, 'other template'],
    ['p:XSplice.Amulet:Amulet', 'splice-amulet', 'other template'],
    ['p:Splice.Round:Amulet', 'splice-amulet', 'other template'],
    ['p:splice.amulet:Amulet', 'splice-amulet', 'other template'],
    // Neither is a control character: the two separators are of the categories Zl and Zs, the soft hyphen of Cf.
    ['p\u2028\u00a0\u00ad:Splice.Amulet:Amulet', 'splice-amulet', 'coin'],
  ])('%s of package %s: %s', (templateId, packageName, expected) => {
    const message = change(messages.scanImport(), 'events_by_id/u:0/template_id', templateId);
    change(message, 'events_by_id/u:0/package_name', packageName);
    if (expected === 'Locked') change(message, 'events_by_id/u:0/create_arguments', messages.lockedArguments());
    const { events, ignored } = decodeUpdate(message);
    expect(events.map(({ kind }) => kind)).toEqual(expected.startsWith('other') ? [] : ['coin']);
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
    decodeUpdate(message).events.find((event): event is RoundCreate => event.kind === 'round')!;

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

  it('is not taken for another one by a number that a double rounds', () => {
    const priced = (price: string): unknown =>
      roundOf(JSON.stringify(messages.scanTransaction()).replace('"0.0750000000"', price)).body;
    expect(priced('0.10000000000000000001')).not.toEqual(priced('0.1'));
    expect(priced('9007199254740993')).not.toEqual(priced('9007199254740992'));
    expect(priced('0.10')).toEqual(priced('1e-1'));
  });
});

describe('reassignments', () => {
  it.each([
    ['scan', messages.scanAssignment],
    ['ledger-api', messages.ledgerApiAssignment],
  ])('an assignment of the format %s is a create on its target', (_format, message) => {
    const update = decodeUpdate(message());
    expect(update.synchronizerId).toBe('other::1220ee');
    expect(outline(update.events)).toEqual(['coin c0']);
  });

  it.each([
    ['scan', messages.scanUnassignment(), SYNC],
    ['ledger-api', messages.ledgerApiUnassignment(), 'other::1220ee'],
  ])('an unassignment of the format %s has no event: the contract stays held', (_format, message, synchronizerId) => {
    expect(decodeUpdate(message)).toMatchObject({ synchronizerId, events: [], ignored: ['unassignment'] });
  });

  it('an unassignment within one synchronizer is an archive, of which format A tells no template', () => {
    expect(decodeUpdate(messages.scanPurge()).events).toEqual([{ kind: 'archive', entity: null, contractId: 'c1' }]);
    const named = { kind: 'archive', entity: 'Amulet', contractId: 'c1' };
    expect(decodeUpdate(messages.ledgerApiPurge()).events).toEqual([named]);
  });

  it('an assignment within one synchronizer is the create that it is between two', () => {
    const scan = change(messages.scanAssignment(), 'event/source_synchronizer', 'other::1220ee');
    expect(outline(decodeUpdate(scan).events)).toEqual(['coin c0']);
    const event = 'update/Reassignment/value/events/0/JsAssignmentEvent';
    const ledgerApi = change(messages.ledgerApiAssignment(), `${event}/source`, 'other::1220ee');
    expect(outline(decodeUpdate(ledgerApi).events)).toEqual(['coin c0']);
  });

  it('an unassignment of the Ledger API within one synchronizer is ignored as an archive would be', () => {
    const value = 'update/Reassignment/value/events/0/JsUnassignedEvent/value';
    const other = change(messages.ledgerApiPurge(), `${value}/templateId`, 'p:M:E');
    expect(decodeUpdate(other)).toMatchObject({ events: [], ignored: ['other template'] });
    const off = change(messages.ledgerApiPurge(), `${value}/acsDelta`, false);
    expect(decodeUpdate(off)).toMatchObject({ events: [], ignored: ['acsDelta false'] });
  });
});

describe('messages that are no update', () => {
  it('a checkpoint names times', () => {
    const times = [{ synchronizerId: SYNC, recordTime: Date.UTC(2026, 2, 4, 5, 7, 0) * 1000 }];
    expect(decode(messages.ledgerApiCheckpoint())).toEqual({
      kind: 'checkpoint',
      format: 'ledger-api',
      migrationId: 7,
      times,
    });
  });

  it.each([
    ['null', 'null value'],
    ['{"update":{"TopologyTransaction":{"value":{}}}}', 'topology transaction'],
    ['{"update":{"SomethingNew":{"value":{}}}}', 'unknown update kind'],
    ['{"update":{"OffsetCheckpoint":{"value":{"synchronizerTimes":[]}}}}', 'empty checkpoint'],
  ])('%s is ignored as %s', (text, what) => {
    expect(decode(text)).toEqual({ kind: 'ignored', what });
    expect(IGNORED_MESSAGES).toContain(what);
  });

  it('keeps the names of ignored events apart from those of ignored messages', () => {
    expect(new Set([...IGNORED_EVENTS, ...IGNORED_MESSAGES]).size).toBe(
      IGNORED_EVENTS.length + IGNORED_MESSAGES.length,
    );
  });
});

describe('hostile JSON', () => {
  const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;

  it('is read in every field that does not matter', () => {
    const text = JSON.stringify(messages.scanTransaction()).replace(
      '"choice_argument":{}',
      `"choice_argument":${deep}`,
    );
    expect(decodeUpdate(text).events).toHaveLength(4);
  });

  it.each([
    ['a whole message', deep],
    ['an update id', `{"update_id":${deep}}`],
    ['an unknown kind', `{"update":{"new":${deep}}}`],
    ['an argument', JSON.stringify(messages.scanImport()).replace('"amount":', `"more":${deep},"amount":`)],
    [
      'what stands beside a number to be kept',
      JSON.stringify(messages.scanImport())
        .replace('"root_event_ids":', `"more":${deep},"root_event_ids":`)
        .replace('"amount":', '"number":1.5,"amount":'),
    ],
  ])('is refused, not a crash, as %s', (_name, text) => {
    expect(faultOf(text)).toBeInstanceOf(BadUpdate);
  });

  it('finds nothing inherited under the name __proto__', () => {
    const text = JSON.stringify(messages.scanImport()).replace(
      '"owner":',
      '"__proto__":{"owner":"eve::1220"},"owner":',
    );
    expect(onlyCoin(text).owner).toBe(ALICE);
    expect(onlyCoin(text).extra).toContain('__proto__');
    expect(faultOf('{"__proto__":{"update_id":"u"}}')?.field).toBe('message');
  });

  it('that is no UTF-8 is refused', () => {
    const bytes = Buffer.from(JSON.stringify(messages.scanImport()));
    bytes[bytes.indexOf('DSO')] = 0xff;
    expect(() => decodeMessage(bytes, { migrationId: 0 })).toThrow('UTF-8');
  });
});
