import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readInstrumentNames } from '../../src/config/instrument-names.ts';
import { openDashboard } from '../../src/http/web-pages.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';

const directory = freshDirectory();
const USDC = { admin: 'registry::1220ab', id: 'USDCx', symbol: 'USDC', name: 'US dollar coin', decimals: 2 };

function read(content: unknown): unknown {
  const file = directory.at('instruments.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readInstrumentNames(file);
}

it('is a list of what the page calls instruments; without a file it is empty', () => {
  expect(readInstrumentNames(null)).toEqual([]);
  expect(read([])).toEqual([]);
  const other = { ...USDC, id: '', symbol: '日本', decimals: 10 };
  expect(read([USDC, other])).toEqual([USDC, other]);
});

it.each<readonly [string, unknown, RegExp]>([
  ['a file that is not there', null, /^--instruments: cannot read .*none\.json/],
  ['text that is not JSON', '[', /instruments\.json: is not JSON/],
  ['no list', {}, /not as expected: .*; expected a list of at most 1000 \{"admin"/],
  ['a missing field', [{ ...USDC, symbol: undefined }], /0\.symbol: /],
  ['an unknown field', [{ ...USDC, icon: 'x' }], /"icon"/],
  ['an admin that is no party', [USDC, { ...USDC, admin: 'x' }], /1\.admin: a party id/],
  [
    'an id of more than 1,024 bytes',
    [{ ...USDC, id: 'x'.repeat(1025) }],
    /0\.id: well-formed text of at most 1024 bytes/,
  ],
  ['a symbol with a control character', [{ ...USDC, symbol: 'a\u0007' }], /0\.symbol: /],
  ['a symbol that is empty', [{ ...USDC, symbol: '' }], /0\.symbol: /],
  ['a name of more than 100 characters', [{ ...USDC, name: 'x'.repeat(101) }], /0\.name: /],
  ['more decimals than an amount has', [{ ...USDC, decimals: 11 }], /0\.decimals: /],
  ['an instrument twice', [USDC, USDC], /has "USDCx" of registry::1220ab twice$/],
  [
    'more than 1,000',
    Array.from({ length: 1001 }, (_, i) => ({ ...USDC, id: String(i) })),
    /expected a list of at most 1000/,
  ],
  ['a file of more than a mebibyte', `[${' '.repeat(2 ** 20)}]`, /has 1048578 bytes, and at most 1048576 are read$/],
])('refuses %s', (_, content, reason) => {
  expect(() => (content === null ? readInstrumentNames(directory.at('none.json')) : read(content))).toThrow(reason);
});

it('is served with the page that reads it, and with no other answer', async () => {
  directory.writeLines('index.html', []);
  const folder = directory.path;
  mkdirSync(directory.at('assets'));
  const [route] = openDashboard({ folder, labels: {}, instruments: [USDC] }).routes.filter(
    ({ path }) => path === '/instruments.json',
  );
  const context = { req: { header: () => undefined } };
  const response = (await route!.handle(context as never)) as Response;
  expect(await response.json()).toEqual({ instruments: [USDC] });
  expect(
    openDashboard({ folder: directory.at('none'), labels: {}, instruments: [] }).routes.map(({ path }) => path),
  ).not.toContain('/instruments.json');
});
