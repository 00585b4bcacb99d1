import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../support/http/service.ts';
import type { HistoryItem } from '../support/ledger/history.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const COINS = 50_000;
const COINS_PER_UPDATE = 500;
const PAGE_SIZE = 1000;
const READERS = 4;
const ROUNDS = 5;
const asked = { migration_id: 0, record_time: '2025-02-12T00:10:00Z', owner_party_ids: [partyOf('alice')] };

const folder = temporaryDirectory();
let service: Service;
beforeAll(async () => {
  const { halted } = await replayInto(folder.at('data'), [folder.writeLines('feed.ndjson', linesOf(ledger(), 'scan'))]);
  expect(halted).toBeNull();
  service = await startService(['--data', folder.at('data')]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** All of alice's coins were created at one time, as the imports that open a migration are. */
function* ledger(): Iterable<HistoryItem> {
  for (let first = 0; first < COINS; first += COINS_PER_UPDATE) {
    const creates = Array.from({ length: COINS_PER_UPDATE }, (_, i) => `+c${first + i} alice 1 at 00:00`);
    yield* parseLedger(`00:01:00.${String(first).padStart(6, '0')} =u${first} : ${creates.join(' ; ')}`);
  }
  yield* parseLedger('00:11 =last : +last bob 1');
}

interface Page {
  readonly created_events: readonly { readonly contract_id: string }[];
  readonly next_page_token: number | null;
}

async function page(after: number | null, pageSize = PAGE_SIZE): Promise<Page> {
  const { status, body } = await service.ask('/v1/holdings/state', { ...asked, page_size: pageSize, after });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Page;
}

it('pages through a group of equal times in the order of ids, whatever the size of a page', async () => {
  const ids = Array.from({ length: COINS }, (_, i) => `00${Buffer.from(`c${i}`).toString('hex')}`).sort();
  let after: number | null = null;
  for (const [first, size] of [
    [0, 1000],
    [1000, 1],
    [1001, 7],
    [1008, 1000],
  ] as const) {
    const { created_events, next_page_token }: Page = await page(after, size);
    expect(created_events.map(({ contract_id }) => contract_id)).toEqual(ids.slice(first, first + size));
    after = next_page_token;
  }
});

it('answers others at once while several clients read the pages of a large owner', async () => {
  let before = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const answered: string[] = [];
    const pages = Array.from({ length: READERS }, () => page(null).then(() => answered.push('page')));
    const summary = service.ask('/v1/holdings/summary', asked).then(({ status, body }) => {
      expect(status).toBe(200);
      expect(body).toMatchObject({ summaries: [{ total_coin_holdings: `${COINS}.0000000000` }] });
      answered.push('summary');
    });
    await Promise.all([...pages, summary]);
    if (answered.at(-1) !== 'summary') before += 1;
  }
  // Where pages were read on the event loop, or in turn with summaries, it would always be the last.
  expect(before).toBeGreaterThan(ROUNDS / 2);
});
