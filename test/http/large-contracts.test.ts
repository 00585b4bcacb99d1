import { expect, it } from 'vitest';
import { makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';
import { LARGE_SNAPSHOT, largeFeed } from '../support/http/large-feed.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const CONTRACTS = 12;
const TEXT_CHARS = 3 * 2 ** 20;
/** Of 16 MiB. */
const FITTING = 5;

interface Page {
  readonly created_events: readonly { readonly contract_id: string }[];
  readonly next_page_token: number | null;
}

it('refuses a page that no memory should hold, says how many contracts fit, and gives all of them in such pages', async () => {
  using folder = temporaryDirectory();
  const lines = largeFeed({ contracts: CONTRACTS, textChars: TEXT_CHARS });
  const dataDir = await makeDataDirectory([folder.writeLines('feed.ndjson', lines)]);
  using service = openHoldings(dataDir);
  const ask = (size: number, after: number | null): Promise<Response> =>
    post(service.app, '/v0/holdings/state', { ...LARGE_SNAPSHOT, page_size: size, after });
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
