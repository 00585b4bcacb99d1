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
const READ_MS = 3_000;
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

/** Asks until the time is over; the milliseconds that each answer took. */
async function timed(endMs: number, ask: () => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  while (performance.now() < endMs) {
    const start = performance.now();
    await ask();
    took.push(performance.now() - start);
  }
  return took;
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!;
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
  const endMs = performance.now() + READ_MS;
  const readers = Array.from({ length: READERS }, async () => {
    let after: number | null = null;
    return timed(endMs, async () => {
      after = (await page(after)).next_page_token;
    });
  });
  const summaries = timed(endMs, async () => {
    const { status, body } = await service.ask('/v1/holdings/summary', asked);
    expect(status).toBe(200);
    expect(body).toMatchObject({ summaries: [{ total_coin_holdings: `${COINS}.0000000000` }] });
  });
  const pages = (await Promise.all(readers)).flat();
  const [slowest, usual] = [Math.max(...(await summaries)), median(await summaries)];
  const figures = `pages ${pages.length}, median ${median(pages)} ms; summaries median ${usual} ms, slowest ${slowest} ms`;
  expect(pages.length, figures).toBeGreaterThanOrEqual(READERS);
  expect(usual, figures).toBeLessThan(median(pages) / 5);
  expect(slowest, figures).toBeLessThan(Math.max(...pages));
});
