import { type Logger, pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createClient } from '../../client/src/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { type Service, startService } from '../../src/service/start-service.ts';
import { openStream } from '../support/http/event-stream.ts';
import { readCsv } from '../support/http/read-csv.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const folder = temporaryDirectory();
const [ALICE, BOB, REGISTRY] = [partyOf('alice'), partyOf('bob'), partyOf('registry')];
const DSO = partyOf('DSO');
const USDC = { instrument_admin: REGISTRY, instrument_id: 'USDC' };
const COIN = { instrument_admin: DSO, instrument_id: 'Amulet' };
const UNKNOWN = { instrument_admin: REGISTRY, instrument_id: 'x'.repeat(1_024) };

/** In which alice has two accounts of USDC, and moves 2 from one to the other at 00:12. */
const LEDGER = `00:01 : +c alice 9 ; +k bob 1 ; +t alice 5 USDC@registry by bob id savings ; +u alice 3 USDC@registry ; +n none 1 USDC@registry
  00:02 : +l bob 4 USDC@registry until 01:00 ; +f bob 1 USDC@registry failed
  00:12 : -t ; -u ; +v alice 3 USDC@registry by bob id savings ; +w alice 5 USDC@registry
  00:21 : +e bob 2 EURC@registry
  00:31 :`;

let service: Service;
let client: Client;
const data = folder.at('data');
const coins = folder.at('coins');

async function serve(dataDir: string, { file, logger = pino({ level: 'silent' }) }: Served = {}): Promise<Service> {
  const { config } = loadConfig({ options: { data: dataDir, port: '0', file }, env: {} });
  return startService(config, { logger });
}

interface Served {
  readonly file?: readonly string[];
  readonly logger?: Logger;
}

beforeAll(async () => {
  const lines = linesOf(parseLedger(LEDGER), 'ledger-api');
  const { halted } = await replayInto(data, [folder.writeLines('tokens.ndjson', lines)]);
  expect(halted).toBeNull();
  const scan = linesOf(parseLedger('00:01 : +c alice 9\n00:21 :'), 'scan');
  await replayInto(coins, [folder.writeLines('coins.ndjson', scan)], { tokens: 'off' });
  service = await serve(data);
  client = createClient(service);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function ask(path: string, given: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${service.url}/holdfast/v1/${path}?${new URLSearchParams(given)}`);
}

const own = (table: string, party = ALICE): string => `owners/${encodeURIComponent(party)}/${table}`;
describe('the answers of a token', () => {
  test('name all instruments and what an owner has of them', async () => {
    const { instruments } = await client.call('/holdfast/v1/instruments', {});
    expect(instruments).toMatchObject([
      { admin: DSO, id: 'Amulet', total: '10.0000000000', owners: 2, contracts: 2, scope: 'followed' },
      { admin: REGISTRY, id: 'EURC', total: '2.0000000000', owners: 1, contracts: 1, scope: 'followed' },
      { admin: REGISTRY, id: 'USDC', unlocked: '9.0000000000', locked: '4.0000000000', owners: 2, contracts: 4 },
    ]);
    const owned = await client.call('/holdfast/v1/owners/{party}/instruments', { party: ALICE });
    expect(owned.instruments).toMatchObject([
      { id: 'Amulet', accounts: [{ provider: null, id: '' }] },
      {
        id: 'USDC',
        total: '8.0000000000',
        contracts: 2,
        accounts: [
          { provider: null, id: '', unlocked: '5.0000000000', locked: '0.0000000000' },
          { provider: BOB, id: 'savings', unlocked: '3.0000000000' },
        ],
        accounts_total: 2,
      },
    ]);
    expect(await client.call('/holdfast/v1/owners/{party}/instruments', { party: 'nobody::1220' })).toMatchObject({
      instruments: [],
      next_page_token: null,
    });
    const csv = readCsv(await (await ask(own('instruments'), { format: 'csv' })).text());
    expect(csv.header).not.toContain('accounts');
  });

  test('tell a move between accounts of one party by its movements alone', async () => {
    const ofAlice = { party: ALICE, ...USDC };
    const { changes } = await client.call('/holdfast/v1/owners/{party}/changes', ofAlice);
    expect(changes).toMatchObject([{ record_time: '2025-02-12T00:10:00Z', total: '8.0000000000' }]);
    const paged: object[] = [];
    for await (const { movements } of client.pages('/holdfast/v1/owners/{party}/movements', { ...ofAlice, limit: 1 }))
      paged.push(...movements);
    expect(paged).toMatchObject([
      { provider: null, account_id: '', kind: 'in', change_total: '2.0000000000', total: '5.0000000000' },
      { provider: BOB, account_id: 'savings', change_total: '-2.0000000000', total: '3.0000000000' },
      { provider: BOB, account_id: 'savings', change_total: '5.0000000000', minted: null },
      { provider: null, account_id: '', change_total: '3.0000000000', others: [{ provider: BOB }, { party_id: null }] },
    ]);
    const all = (await client.call('/holdfast/v1/movements', USDC)).movements;
    expect(all.map(({ party_id }) => party_id)).toEqual([ALICE, ALICE, BOB, ALICE, ALICE, null]);
    const csv = readCsv(await (await ask(own('movements'), { ...USDC, format: 'csv' })).text());
    expect(csv.rows[1]).toMatchObject({ provider: BOB, account_id: 'savings' });
  });

  test('are those of locks, balances, statements and owners', async () => {
    expect(await client.call('/holdfast/v1/owners/{party}/locks', { party: BOB, ...USDC })).toMatchObject({
      unlocking: { '1d': '4.0000000000' },
      locks: [{ amount: '4.0000000000', expires_at: '2025-02-12T01:00:00Z', holders: [], context: null }],
    });
    const body = { at: ['2025-02-12T00:11:00Z'], owners: [ALICE, BOB], ...USDC };
    expect(await client.call('/holdfast/v1/balances', body)).toMatchObject({
      balances: [{ total: '8.0000000000' }, { locked: '4.0000000000' }],
    });
    const { periods } = await client.call('/holdfast/v1/owners/{party}/statement', {
      party: ALICE,
      ...USDC,
      every: 'all',
    });
    expect(periods).toMatchObject([{ received: '10.0000000000', sent: '2.0000000000', closing: '8.0000000000' }]);
    expect((await client.call('/holdfast/v1/top', USDC)).owners).toMatchObject([
      { party_id: ALICE, share: '0.6153846154' },
      { party_id: BOB, share: '0.3076923077' },
    ]);
    expect((await client.call('/holdfast/v1/unreadable', {})).unreadable).toMatchObject([
      { stakeholders: [BOB, REGISTRY].sort() },
    ]);
    const status = await (await fetch(`${service.url}/status`)).json();
    expect(status).toMatchObject({ tokens: 'on', holdings_unreadable: 1, view_differs: 0 });
  });
});

describe('the coin', () => {
  test.each(['owners', 'top', own('history'), own('changes'), own('movements'), own('locks'), 'movements'])(
    'named in full has the same answer as without a name: %s',
    async (path) => {
      for (const format of ['json', 'csv']) {
        const [named, plain] = [
          await ask(path, { ...COIN, format, limit: '1' }),
          await ask(path, { format, limit: '1' }),
        ];
        const texts = path.endsWith('history') ? [await ask(path, COIN), await ask(path)] : [named, plain];
        expect(await texts[0]!.text()).toBe(await texts[1]!.text());
        expect(texts[0]!.headers.get('etag')).toBe(texts[1]!.headers.get('etag'));
      }
    },
  );

  test('has pages that no token continues, nor those of a token it', async () => {
    const { next_page_token: ofToken } = await client.call('/holdfast/v1/owners', { ...USDC, limit: 1 });
    expect((await client.call('/holdfast/v1/owners', { after: ofToken! })).owners).toMatchObject([{ party_id: BOB }]);
    const other = await ask('owners', { after: ofToken!, ...USDC, instrument_id: 'EURC' });
    expect([other.status, await other.text()]).toEqual([400, expect.stringContaining('instrument_id: given')]);
    const { next_page_token: ofCoin } = await client.call('/holdfast/v1/owners', { limit: 1 });
    expect((await client.call('/holdfast/v1/owners', { after: ofCoin!, ...COIN })).owners).toMatchObject([
      { party_id: BOB },
    ]);
    const token = await ask('owners', { after: ofCoin!, ...USDC });
    expect([token.status, await token.text()]).toEqual([
      400,
      expect.stringContaining('expected nothing, as for the page'),
    ]);
  });
});

test('a coin whose views name another amount counts by its arguments, and is said once', async () => {
  const log: string[] = [];
  const logger = pino({}, { write: (line: string) => void log.push(line) });
  const ledger = parseLedger('00:01 : +c alice 9 viewed\n00:11 : +d bob 1 viewed\n00:21 :');
  const lines = linesOf(ledger, 'ledger-api').map((line) => line.replaceAll(/"amount":"[^"]*"/g, '"amount":"3"'));
  const file = [folder.writeLines('differing.ndjson', lines)];
  await using differing = await serve(folder.at('differing'), { file, logger });
  await expect
    .poll(async () => (await fetch(`${differing.url}/status`)).json())
    .toMatchObject({
      phase: 'caught_up',
      view_differs: 2,
    });
  expect(log.filter((line) => line.includes('view_differs'))).toHaveLength(1);
  const { owners } = await createClient(differing).call('/holdfast/v1/top', {});
  expect(owners).toMatchObject([{ total: '9.0000000000' }, { total: '1.0000000000' }]);
});

describe('a wrong name', () => {
  const expected = 'text in UTF-8 of at most 1024 bytes, percent-encoded in a query';
  test.each<readonly [string, number, string]>([
    [
      `instrument_admin=${REGISTRY}`,
      400,
      'instrument_id: given nothing, expected a value, because instrument_admin is given',
    ],
    ['instrument_id=', 400, 'instrument_admin: given nothing, expected a value, because instrument_id is given'],
    ['instrument_admin=nobody&instrument_id=USDC', 400, 'instrument_admin: given \\"nobody\\", expected a party id'],
    [`instrument_admin=${REGISTRY}&instrument_id=%FF`, 400, 'expected UTF-8, percent-encoded'],
    [`instrument_admin=${REGISTRY}&instrument_id=${'%C3%A9'.repeat(513)}`, 400, `expected ${expected}`],
    [`instrument_admin=${REGISTRY}&instrument_id=`, 404, `No instrument  of ${REGISTRY} in migration 0`],
    [`instrument_admin=${REGISTRY}&instrument_id=usdc`, 404, `No instrument usdc of ${REGISTRY} in migration 0`],
  ])('%s is a %i', async (query, status, said) => {
    for (const path of ['top', own('statement'), 'stream']) {
      // A stream may be of one that is not known yet.
      if (path === 'stream' && status === 404) continue;
      const response = await fetch(`${service.url}/holdfast/v1/${path}?${query}`);
      expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(said)]);
      expect(response.headers.get('cache-control')).toBe(status === 404 ? 'no-store' : null);
    }
  });

  test('is cut in what is said of it', async () => {
    const given = { ...UNKNOWN, migration_id: 0, record_time: '2025-02-12T00:10:00Z' };
    const message = `No instrument ${'x'.repeat(100)}... of ${REGISTRY} in migration 0`;
    await expect(client.call('/holdfast/v1/owners', given)).rejects.toMatchObject({ message, code: 'missing' });
  });

  test('is that of every token where there are none', async () => {
    await using plain = await serve(coins);
    const named = new URLSearchParams(USDC);
    for (const path of ['owners', own('movements'), 'stream']) {
      const response = await fetch(`${plain.url}/holdfast/v1/${path}?${named}`);
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining('no tokens are kept here'),
      ]);
    }
    const { instruments } = (await (await fetch(`${plain.url}/holdfast/v1/instruments`)).json()) as Record<
      string,
      unknown
    >;
    expect(instruments).toMatchObject([{ admin: DSO, id: 'Amulet', scope: 'network' }]);
    expect(await (await fetch(`${plain.url}/status`)).json()).toMatchObject({ tokens: 'off', holdings_unreadable: 0 });
  });
});

describe('a stream', () => {
  test('sends the movements of a token, and resumes behind each', async () => {
    const body = { owners: [ALICE], events: 'movements', last_event_id: '0 2025-02-12T00:00:00Z', ...USDC };
    const first = await openStream(service.url, { body: { ...body, last_event_id: null } });
    await first.until(() => first.events.some(({ name }) => name === 'snapshot'));
    const update = (await client.call('/holdfast/v1/owners/{party}/movements', { party: ALICE, ...USDC }))
      .movements[0]!;
    const parts = ['0', '2025-02-12T00:12:00Z', update.update_id, ALICE, '', '', REGISTRY, 'USDC'];
    const id = parts.map(encodeURIComponent).join(' ');
    using resumed = await openStream(service.url, { body: { ...body, last_event_id: id } });
    await resumed.until(() => resumed.events.some(({ name }) => name === 'movement'));
    const [movement] = resumed.events.filter(({ name }) => name === 'movement');
    expect(Object.keys(movement!.data).slice(0, 4)).toEqual([
      'migration_id',
      'party_id',
      'instrument_admin',
      'instrument_id',
    ]);
    expect(movement).toMatchObject({
      id: [...parts.slice(0, 4), BOB, 'savings', REGISTRY, 'USDC'].map(encodeURIComponent).join(' '),
      data: { provider: BOB, account_id: 'savings', change_total: '-2.0000000000' },
    });
    using coin = await openStream(service.url, { body: { owners: [ALICE], events: 'movements', last_event_id: id } });
    await coin.until(() => coin.events.some(({ name }) => name === 'reset'));
    first[Symbol.dispose]();
  });

  test('may be of an instrument that nobody knows yet', async () => {
    using stream = await openStream(service.url, { body: { owners: [ALICE], events: 'movements', ...UNKNOWN } });
    await stream.until(() => stream.events.some(({ name }) => name === 'snapshot'));
  });
});

describe('the command line', () => {
  const token = ['--instrument-admin', REGISTRY, '--instrument-id', 'USDC'];
  test.each<readonly [string, readonly string[], string, Readonly<Record<string, string>>]>([
    ['owners', [], 'owners', USDC],
    ['top', ['--by', 'locked'], 'top', { ...USDC, by: 'locked' }],
    ['history', ['--owner', ALICE], own('history'), USDC],
    ['movements', ['--owner', ALICE], own('movements'), USDC],
    ['statement', ['--owner', ALICE], own('statement'), USDC],
    ['locks', ['--owner', BOB], own('locks', BOB), USDC],
    ['instruments', [], 'instruments', {}],
    ['instruments', ['--owner', ALICE], own('instruments'), {}],
  ])('holdfast %s %s prints what HTTP answers', async (command, options, path, given) => {
    const line = [command, ...options, ...(command === 'instruments' ? [] : token)];
    const json = await (await ask(path, given)).text();
    const csv = await (await ask(path, { ...given, format: 'csv' })).text();
    const ofService = ['movements', 'statement', 'locks', 'instruments'].includes(command);
    for (const where of [['--data', data], ...(ofService ? [['--url', service.url]] : [])]) {
      const printed = await holdfast(...line, '--json', ...where);
      expect(printed).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.stringify(JSON.parse(printed.stdout))).toBe(json);
      expect(await holdfast(...line, '--csv', ...where)).toMatchObject({ code: 0, stdout: csv });
      expect(await holdfast(...line, ...where)).toMatchObject({ code: 0, stderr: '' });
    }
  });

  test('refuses half a name, and does not know another', async () => {
    const half = await holdfast('top', '--instrument-id', 'USDC', '--data', data);
    expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining('instrument_admin: given nothing') });
    const other = await holdfast('top', '--instrument-id', 'a', '--instrument-admin', REGISTRY, '--data', data);
    expect(other).toMatchObject({ code: 4, stderr: `holdfast: No instrument a of ${REGISTRY} in migration 0\n` });
  });

  test('compares the digests of the tokens', async () => {
    const equal = await holdfast('compare', service.url, '--tokens', '--data', data, '--json');
    expect(equal).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(equal.stdout).migrations).toMatchObject([
      { by: 'tokens_digest', compared: 3, first_different: null },
    ]);
    await using plain = await serve(coins);
    const none = await holdfast('compare', plain.url, '--tokens', '--data', data);
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('no tokens there') });
  });
});
