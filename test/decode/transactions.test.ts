import { describe, expect, it } from 'vitest';
import * as messages from '../support/decode/messages.ts';
import { change, decodeUpdate, outline, SYNC } from '../support/decode/messages.ts';

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
