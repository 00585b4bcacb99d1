import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../src/decode/decode-message.ts';
import { identify } from '../../src/decode/identify.ts';
import { BadUpdate } from '../../src/ledger/bad-update.ts';
import { BAD_UPDATES, badMessage, GOOD } from '../support/decode/bad-updates.ts';
import * as messages from '../support/decode/messages.ts';
import { ALICE, change, decode, decodeUpdate, faultOf, onlyCoin, outline, SYNC } from '../support/decode/messages.ts';

describe('messages that are no update', () => {
  it('a checkpoint names times', () => {
    const times = [{ synchronizerId: SYNC, recordTime: Date.UTC(2026, 2, 4, 5, 7, 0) * 1000 }];
    expect(decode(messages.ledgerApiCheckpoint())).toEqual({
      kind: 'checkpoint',
      format: 'ledger-api',
      migrationId: 7,
      times,
      offset: expect.any(Number),
    });
  });

  it.each([
    ['null', 'null value'],
    ['{"update":{"TopologyTransaction":{"value":{}}}}', 'topology transaction'],
    ['{"update":{"SomethingNew":{"value":{}}}}', 'unknown update kind'],
    ['{"update":{"OffsetCheckpoint":{"value":{"synchronizerTimes":[]}}}}', 'empty checkpoint'],
  ])('%s is ignored as %s', (text, what) => {
    expect(decode(text)).toEqual({ kind: 'ignored', what });
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
      'what is next to a number to be kept',
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

describe('a Scan transaction', () => {
  it('is read depth first from its roots, children in order, whatever the order of events_by_id', () => {
    const update = decodeUpdate(messages.scanTransaction());
    expect(outline(update.events)).toEqual(['archive c1', 'Amulet c2', 'LockedAmulet c10', 'OpenMiningRound c11']);
    expect(update).toMatchObject({ format: 'scan', updateId: 'u', migrationId: 4, synchronizerId: SYNC });
    expect(update.recordTime).toBe(Date.UTC(2026, 2, 4, 5, 6, 8, 250) * 1000);
    expect(update.ignored).toEqual(['not consuming']);
  });

  it('puts the children of an event before its next sibling', () => {
    const message = messages.scanTransaction();
    change(message, 'events_by_id/u:0/child_event_ids', ['u:1', 'u:2']);
    change(message, 'events_by_id/u:1/child_event_ids', ['u:11', 'u:10']);
    expect(outline(decodeUpdate(message).events)).toEqual([
      'archive c1',
      'OpenMiningRound c11',
      'LockedAmulet c10',
      'Amulet c2',
    ]);
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
    expect(outline(update.events)).toEqual(['Amulet c0']);
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
    expect(outline(update.events)).toEqual([
      'archive c1',
      'Amulet c2',
      'LockedAmulet c10',
      'OpenMiningRound c11',
      'archive c12',
    ]);
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
        expect(outline(update.events)).toEqual(['Amulet c0', 'LockedAmulet c1', 'OpenMiningRound c2']);
      }
    },
  );

  it('ignores creates and archives that never reach the active set', () => {
    const message = messages.bareTransaction();
    for (const path of ['0/ArchivedEvent', '1/CreatedEvent', '4/ExercisedEvent']) {
      change(message, `events/${path}/acsDelta`, false);
    }
    const update = decodeUpdate(message);
    expect(outline(update.events)).toEqual(['LockedAmulet c10', 'OpenMiningRound c11']);
    expect(update.ignored).toEqual(['acsDelta false', 'acsDelta false', 'acsDelta false']);
  });

  it.each([null, undefined, true])('takes an event whose acsDelta is %s', (acsDelta) => {
    const message = change(messages.bareTransaction(), 'events/1/CreatedEvent/acsDelta', acsDelta);
    expect(outline(decodeUpdate(message).events)).toContain('Amulet c2');
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

describe('reassignments', () => {
  it.each([
    ['scan', messages.scanAssignment],
    ['ledger-api', messages.ledgerApiAssignment],
  ])('an assignment of the format %s is a create on its target', (_format, message) => {
    const update = decodeUpdate(message());
    expect(update.synchronizerId).toBe('other::1220ee');
    expect(outline(update.events)).toEqual(['Amulet c0']);
  });

  it.each([
    ['scan', messages.scanUnassignment(), SYNC],
    ['ledger-api', messages.ledgerApiUnassignment(), 'other::1220ee'],
  ])('an unassignment of the format %s has no event: the contract stays held', (_format, message, synchronizerId) => {
    expect(decodeUpdate(message)).toMatchObject({ synchronizerId, events: [], ignored: ['unassignment'] });
  });

  it('an unassignment within one synchronizer is an archive, of which format A names no template', () => {
    expect(decodeUpdate(messages.scanPurge()).events).toEqual([{ kind: 'archive', entity: null, contractId: 'c1' }]);
    const named = { kind: 'archive', entity: 'Amulet', contractId: 'c1' };
    expect(decodeUpdate(messages.ledgerApiPurge()).events).toEqual([named]);
  });

  it('an assignment within one synchronizer is the create that it is between two', () => {
    const scan = change(messages.scanAssignment(), 'event/source_synchronizer', 'other::1220ee');
    expect(outline(decodeUpdate(scan).events)).toEqual(['Amulet c0']);
    const event = 'update/Reassignment/value/events/0/JsAssignmentEvent';
    const ledgerApi = change(messages.ledgerApiAssignment(), `${event}/source`, 'other::1220ee');
    expect(outline(decodeUpdate(ledgerApi).events)).toEqual(['Amulet c0']);
  });

  it('an unassignment of the Ledger API within one synchronizer is taken as an archive would be', () => {
    const value = 'update/Reassignment/value/events/0/JsUnassignedEvent/value';
    const other = change(messages.ledgerApiPurge(), `${value}/templateId`, 'p:M:E');
    const archive = { kind: 'other archive', contractId: 'c1', ignoredAs: 'other template' };
    expect(decodeUpdate(other)).toMatchObject({ events: [archive], ignored: [] });
    const off = change(messages.ledgerApiPurge(), `${value}/acsDelta`, false);
    expect(decodeUpdate(off)).toMatchObject({ events: [], ignored: ['acsDelta false'] });
  });
});

const of = (message: unknown): unknown => {
  return identify(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));
};
const scan = { updateId: 'u', recordTime: '2026-03-04T05:06:08.250000Z', migrationId: 4 };
const nothing = { updateId: null, recordTime: null, migrationId: null };

describe('identify', () => {
  it.each([
    ['a Scan transaction', messages.scanTransaction(), scan],
    ['a Scan reassignment', messages.scanAssignment(), { ...scan, recordTime: '2026-03-04T05:10:00.000000Z' }],
    [
      'a Ledger API transaction',
      messages.ledgerApiTransaction(),
      { ...scan, recordTime: '2026-03-04T05:06:08.250Z', migrationId: null },
    ],
    ['a bare one', messages.bareTransaction(), { ...scan, recordTime: '2026-03-04T05:06:08.250Z', migrationId: null }],
    ['a checkpoint', messages.ledgerApiCheckpoint(), nothing],
    ['fields of a wrong type', { update_id: 7, record_time: {}, migration_id: '4' }, nothing],
    ['a value that is no object', '[1]', nothing],
    ['nothing', '', nothing],
  ])('finds what %s says of itself', (_name, message, expected) => {
    expect(of(message)).toEqual(expected);
  });

  it('searches the text of a message that is cut off, or no UTF-8', () => {
    const text = JSON.stringify(messages.scanTransaction());
    expect(of(text.slice(0, 200))).toEqual(scan);
    expect(identify(Buffer.concat([Buffer.from(text.slice(0, 200)), Buffer.from([0xff, 0xfe])]))).toEqual(scan);
  });

  it('repeats no more than 300 characters', () => {
    expect(of({ update_id: 'x'.repeat(5000) })).toMatchObject({ updateId: 'x'.repeat(300) });
  });
});

const UPDATE = '{"update_id": "é", "n": [1, -2.5e3, true, {"a": "\\u00e9\\n"}], "b": null}';

function cutOffFault(bytes: Uint8Array): Partial<BadUpdate> {
  try {
    decodeMessage(bytes, { migrationId: 0 });
  } catch (error) {
    return error as BadUpdate;
  }
  return {};
}

it('says of an update that breaks off anywhere that it looks cut off', () => {
  const bytes = Buffer.from(UPDATE);
  for (let length = 1; length < bytes.length; length++)
    expect(cutOffFault(bytes.subarray(0, length)), String(length)).toMatchObject({
      code: 'cut_off',
      expected: expect.stringMatching(/; this looks cut off$/),
    });
});

it.each(['', 'id,owner', '"text', '[1,', '{"a":1}}', '{"a" 1}', '{"a":1 "b"', '{"a":x', '{"foo":1}', '{"a":\xff\xff'])(
  'does not say so of %j',
  (text) => {
    const { code, expected } = cutOffFault(Buffer.from(text, 'latin1'));
    expect(code).not.toBe('cut_off');
    expect(expected).not.toContain('cut off');
  },
);

describe.each([
  ['scan', BAD_UPDATES.scan],
  ['ledger-api', BAD_UPDATES['ledger-api']],
])('a bad update of the format %s is refused with the name of the field', (format, table) => {
  it.each(table)('%s: %s = %s', (...bad) => {
    const [kind, , , field] = bad;
    const message = badMessage(bad, GOOD[format]![kind]!());
    const fault = messages.faultOf(message);
    expect(fault?.field).toBe(field);
    expect(fault?.message).toBe(`${field}: given ${fault?.given}, expected ${fault?.expected}`);
  });

  it.each(Object.entries(GOOD[format]!))('and the %s it was derived from is good', (_kind, good) => {
    expect(messages.faultOf(good())).toBeNull();
  });
});

describe('what is no update of either format', () => {
  it.each([
    ['', 'JSON'],
    ['{"update_id":', 'JSON'],
    ['nonsense', 'JSON'],
    ['7', 'one update'],
    ['"text"', 'one update'],
    ['[]', 'one update'],
    ['{}', 'one update'],
    ['{"foo":1}', 'one update'],
    ['{"update":null}', 'one update'],
    ['{"transactions":[]}', 'a whole Scan page'],
    ['{"record_time":"x","migration_id":1,"created_events":[]}', 'a holdings or ACS listing'],
    ['{"record_time":"x","summaries":[]}', 'a holdings summary'],
    ['{"contractEntry":{}}', 'an ACS listing'],
    ['{"event_type":"created_event","contract_id":"c"}', 'a single event'],
    ['{"CreatedEvent":{"contractId":"c"}}', 'a single event'],
    ['{"u:1":{"event_type":"created_event"}}', 'events without their update'],
    ['{"created":{"createdEvent":{}},"archived":null}', 'the events of one contract'],
    ['{"transaction":{"updateId":"u"}}', 'protobuf JSON'],
    ['{"offsetCheckpoint":{"offset":"1"}}', 'protobuf JSON'],
    ['{"update":{"update_id":"u","events_by_id":{}},"verdict":{}}', 'an item of Scan /v0/events'],
  ])('%s', (text, says) => {
    expect(messages.faultOf(text)?.message).toContain(says);
  });

  it('names protobuf JSON in the payload of a coin', () => {
    const message = messages.change(messages.scanTransaction(), 'events_by_id/u:2/create_arguments', {
      record: { fields: [] },
    });
    expect(messages.faultOf(message)?.message).toContain('protobuf JSON');
  });
});
