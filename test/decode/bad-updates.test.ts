import { describe, expect, it } from 'vitest';
import { BAD_UPDATES, badMessage, GOOD } from '../support/decode/bad-updates.ts';
import * as messages from '../support/decode/messages.ts';

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
