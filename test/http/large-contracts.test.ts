import { expect, it } from 'vitest';
import * as messages from '../decode/messages.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { makeDataDirectory, openHoldings, post } from './holdings-service.ts';

const CONTRACTS = 12;
const TEXT_CHARS = 3 * 2 ** 20;
/** Of 16 MiB. */
const FITTING = 5;

/** A locked coin beside which somebody wrote a very long text; without one the update that seals the snapshot. */
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

interface Page {
  readonly created_events: readonly { readonly contract_id: string }[];
  readonly next_page_token: number | null;
}

it('refuses a page that no memory should hold, says how many contracts fit, and gives all of them in such pages', async () => {
  using folder = temporaryDirectory();
  const lines = Array.from({ length: CONTRACTS }, (_, i) => line(i, 'x'.repeat(TEXT_CHARS)));
  const dataDir = await makeDataDirectory([folder.writeLines('feed.ndjson', [...lines, line(CONTRACTS, null)])]);
  using service = openHoldings(dataDir);
  const snapshot = { migration_id: 0, record_time: '2025-02-12T00:10:00Z', owner_party_ids: [messages.ALICE] };
  const ask = (size: number, after: number | null): Promise<Response> =>
    post(service.app, '/v0/holdings/state', { ...snapshot, page_size: size, after });
  const refused = await ask(1000, null);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toEqual({
    error: `page_size: given 1000, expected at most ${FITTING} for this page, whose contracts are large`,
  });
  const ids: string[] = [];
  let after: number | null = null;
  do {
    const answer = await ask(FITTING, after);
    expect(answer.status).toBe(200);
    const page = (await answer.json()) as Page;
    ids.push(...page.created_events.map(({ contract_id }) => contract_id));
    after = page.next_page_token;
  } while (after !== null);
  expect(ids).toHaveLength(CONTRACTS);
  expect(new Set(ids).size).toBe(CONTRACTS);
});
