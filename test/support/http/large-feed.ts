import * as messages from '../decode/messages.ts';

/** The snapshot at which all contracts of the feed are active, and whose they are. */
export const LARGE_SNAPSHOT = {
  migration_id: 0,
  record_time: '2025-02-12T00:10:00Z',
  owner_party_ids: [messages.ALICE],
} as const;

/** Lines of a feed of locked coins with very long texts in their locks. */
export function largeFeed({ contracts, textChars }: { contracts: number; textChars: number }): string[] {
  const text = 'x'.repeat(textChars);
  const created = Array.from({ length: contracts }, (_, i) => line(i, text));
  return [...created, line(contracts, null)];
}

/** Without a text it is the update that seals the snapshot. */
function line(number: number, text: string | null): string {
  const locked = messages.lockedArguments();
  messages.change(locked, 'lock/optContext', text);
  const created = { ...messages.scanCreate(1, 'LockedAmulet', locked), contract_id: `c${number}` };
  return JSON.stringify({
    ...messages.scanTransaction(),
    update_id: `u${number}`,
    record_time: text === null ? '2025-02-12T00:11:00Z' : `2025-02-12T00:01:${String(number).padStart(2, '0')}Z`,
    migration_id: 0,
    root_event_ids: text === null ? [] : ['u:1'],
    events_by_id: text === null ? {} : { 'u:1': created },
  });
}
