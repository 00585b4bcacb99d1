import { describe, expect, it } from 'vitest';
import * as messages from '../support/decode/messages.ts';
import { makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';
import { LARGE_SNAPSHOT, largeFeed } from '../support/http/large-feed.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { replayInto } from '../support/views/replayed.ts';

/** More digits than a double has, in a key that the program does not know. */
const NUMBERS = '[0.10000000000000000001,12345678901234567890,-0.50,1E+400]';
/** The same values, written otherwise. */
const EQUAL = '[1.0000000000000000001e-1,12345678901234567890.0,-5e-1,10e399]';
/** As doubles they are those above. */
const ROUNDED = '[0.1,12345678901234567000,-0.5,1E+400]';

/** A coin with that in a key of its payload, created in this second; without one, the update that seals the snapshot. */
function line(format: string, second: number, more: string | null): string {
  const args = { ...messages.amuletArguments(), more: 'NUMBERS' };
  const time = more === null ? '2025-02-12T00:11:00Z' : `2025-02-12T00:01:0${second}Z`;
  const message =
    format === 'scan'
      ? {
          ...messages.scanTransaction(),
          update_id: `u${second}`,
          record_time: time,
          migration_id: 0,
          root_event_ids: more === null ? [] : ['u:1'],
          events_by_id: more === null ? {} : { 'u:1': messages.scanCreate(1, 'Amulet', args) },
        }
      : messages.ledgerApi('Transaction', {
          ...messages.bareTransaction(),
          updateId: `u${second}`,
          recordTime: time,
          events: more === null ? [] : [{ CreatedEvent: messages.ledgerApiCreate(1, 'Amulet', args) }],
        });
  return JSON.stringify(message).replace('"NUMBERS"', more ?? '');
}

describe.each(['scan', 'ledger-api'])(
  'a number that no double can represent, from a feed of the format %s',
  (format) => {
    it('is given back by state as it came, and known when it comes again', async () => {
      using folder = temporaryDirectory();
      const lines = [line(format, 1, NUMBERS), line(format, 2, EQUAL), line(format, 3, null)];
      const { halted } = await replayInto(folder.at('data'), [folder.writeLines('feed.ndjson', lines)]);
      expect(halted).toBeNull();
      using service = openHoldings(folder.at('data'));
      for (const version of ['v0', 'v1']) {
        const answer = await post(service.app, `/${version}/holdings/state`, {
          migration_id: 0,
          record_time: '2025-02-12T00:10:00Z',
          page_size: 10,
          owner_party_ids: [messages.ALICE],
        });
        const text = await answer.text();
        expect(text).toContain(`"more":${NUMBERS}`);
        expect(JSON.parse(text).created_events).toHaveLength(1);
      }
      expect((await holdfast('verify', '--data', folder.at('data'))).code).toBe(0);
    });

    it('is another number than the double next to it: a second create with that is bad', async () => {
      using folder = temporaryDirectory();
      const lines = [line(format, 1, NUMBERS), line(format, 2, ROUNDED), line(format, 3, null)];
      const { halted } = await replayInto(folder.at('data'), [folder.writeLines('feed.ndjson', lines)]);
      expect(halted?.reason).toContain('a create equal to the one that made it');
    });
  },
);

const CONTRACTS = 7;
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
