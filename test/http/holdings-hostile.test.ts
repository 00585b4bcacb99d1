import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post } from '../support/http/holdings-service.ts';

const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
const { app } = service;
afterAll(() => service[Symbol.dispose]());

const { owner_party_ids, snapshots } = readExpected('story');
const good = { migration_id: 0, record_time: snapshots[0]!.record_time, owner_party_ids, page_size: 5 };
const PATHS = ['/v0/holdings/summary', '/v1/holdings/summary', '/v0/holdings/state', '/v1/holdings/state'];

/** What is no JSON value of JavaScript, and what looks like what is asked for. */
const odd = fc.oneof(
  fc.jsonValue(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(
    '9223372036854775807',
    '-9223372036854775808',
    '0001-01-01T00:00:00+18:00',
    '9999-12-31T23:59:59.999999999-18:00',
    '2025-02-12T00:10:00.0000009Z',
    'alice::\u0000',
    '__proto__',
    'toString',
  ),
  fc.array(fc.constantFrom(...owner_party_ids, 'nobody::1', 7, null), { maxLength: 5 }),
);
const field = fc.constantFrom(
  'migration_id',
  'record_time',
  'record_time_match',
  'owner_party_ids',
  'as_of_round',
  'page_size',
  'after',
  '__proto__',
);

async function check(response: Response): Promise<void> {
  expect([200, 400, 404, 405]).toContain(response.status);
  const body = JSON.parse(await response.text());
  if (response.status !== 200) expect(typeof body.error).toBe('string');
}

test('no field, whatever it holds, is a failure of ours', async () => {
  const changes = fc.array(fc.tuple(field, odd), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PATHS), changes, async (path, changed) => {
      await check(await post(app, path, Object.assign({ ...good }, Object.fromEntries(changed))));
    }),
    { numRuns: 500 },
  );
  expect(service.log).toEqual([]);
});

test('no text of a body is', async () => {
  const text = JSON.stringify(good);
  const damaged = fc
    .tuple(fc.nat(text.length), fc.nat(20), fc.string({ unit: 'binary', maxLength: 20 }))
    .map(([at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PATHS),
      fc.oneof(damaged, fc.string({ unit: 'binary' })),
      async (path, body) => {
        await check(await post(app, path, body));
      },
    ),
    { numRuns: 500 },
  );
  expect(service.log).toEqual([]);
});

test('no path or query is', async () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 10 }).map(encodeURIComponent),
    fc.constantFrom('v0', 'holdings', '%', '%zz', '%00', '..', '', '&', '='),
  );
  const time = fc.constantFrom('snapshot-timestamp', 'snapshot-timestamp-after').map((name) => `v0/state/acs/${name}`);
  const path = fc.oneof(
    time,
    fc.array(part, { maxLength: 4 }).map((parts) => parts.join('/')),
  );
  const query = fc.array(fc.tuple(fc.constantFrom('before', 'after', 'migration_id', 'x'), part), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(path, query, async (path, query) => {
      const search = query.map(([name, value]) => `${name}=${value}`).join('&');
      await check(await app.request(`http://localhost/${path.replace(/^\/+/, '')}?${search}`));
    }),
    { numRuns: 500 },
  );
  expect(service.log).toEqual([]);
});
