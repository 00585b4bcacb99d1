import { describe, expect, it } from 'vitest';
import * as messages from '../support/decode/messages.ts';
import { change, decodeUpdate, outline, SYNC } from '../support/decode/messages.ts';

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

  it('an unassignment of the Ledger API within one synchronizer is ignored as an archive would be', () => {
    const value = 'update/Reassignment/value/events/0/JsUnassignedEvent/value';
    const other = change(messages.ledgerApiPurge(), `${value}/templateId`, 'p:M:E');
    expect(decodeUpdate(other)).toMatchObject({ events: [], ignored: ['other template'] });
    const off = change(messages.ledgerApiPurge(), `${value}/acsDelta`, false);
    expect(decodeUpdate(off)).toMatchObject({ events: [], ignored: ['acsDelta false'] });
  });
});
