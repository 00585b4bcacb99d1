import { afterAll, describe, expect, test } from 'vitest';
import { OWN_ERROR } from '../../../src/http/routing.ts';
import { fixture, readExpected } from '../../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings } from '../../support/http/holdings-service.ts';
import { askTable, readTable } from '../../support/http/table-pages.ts';

const service = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));
const { app } = service;
afterAll(() => service[Symbol.dispose]());

const story = readExpected('story');
const ALICE = story.owner_party_ids[0]!;
const V1 = '/holdfast/v1';
const TARGETS = [
  'snapshots',
  'owners',
  'top',
  ...['history', 'changes', 'locks'].map((each) => `owners/${ALICE}/${each}`),
];

async function fault(target: string): Promise<string> {
  const response = await app.request(`${V1}/${target}`);
  const { error } = (await response.json()) as { error: string };
  expect(response.headers.has('cache-control')).toBe(false);
  expect(response.headers.has('etag')).toBe(false);
  return `${response.status} ${error}`;
}

async function firstToken(path: string, given: Readonly<Record<string, unknown>>): Promise<string> {
  const { next } = readTable(await (await askTable(app, path, given)).text());
  expect(next).not.toBeNull();
  return next!;
}

describe('a request', () => {
  test.each(TARGETS)('%s names a parameter that is unknown or given twice', async (target) => {
    expect(await fault(`${target}?limits=1`)).toMatch(/^400 limits: given "1", expected no such parameter, only /);
    expect(await fault(`${target}?migration_id=0&migration_id=0`)).toBe(
      '400 migration_id: given "0", expected it once, and it is given twice',
    );
    expect(await fault(`${target}?party=x`)).toMatch(/^400 party: given "x", expected no such parameter/);
    expect(await fault(`${target}?__proto__=x`)).toMatch(/^400 __proto__: given "x"/);
    expect(await fault(`${target}?=x`)).toMatch(/^400 : given "x"/);
  });

  test.each(TARGETS)('%s is 404 where a migration has no snapshot', async (target) => {
    expect(await fault(`${target}?migration_id=7`)).toBe('404 No snapshots found in migration 7');
    expect(await fault(`${target}?migration_id=-9223372036854775808`)).toMatch(/^404/);
  });

  test.each([
    ['top?record_time=2025-02-11T23:00:00Z', '404 No snapshots found before 2025-02-11T23:00:00Z'],
    ['top?by=size', '400 by: given "size", expected total or unlocked or locked'],
    ['snapshots?order=up', '400 order: given "up", expected desc or asc'],
    ['owners?prefix=', '400 prefix: given "", expected 1 to 255 characters that the party id begins with'],
    ['owners?limit=0', '400 limit: given "0", expected an integer from 1 to 1000, or "all" in CSV'],
    ['owners?limit=all', '400 limit: given "all", expected an integer from 1 to 1000, or "all" in CSV'],
    ['owners?format=xml', '400 format: given "xml", expected json or csv'],
    ['owners?after=x', '400 after: given "x", expected a next_page_token of this operation'],
    ['owners?migration_id=x', '400 migration_id: given "x", expected an integer'],
    ['owners?record_time=now', '400 record_time: given "now", expected an RFC 3339 date-time'],
    ['owners?record_time=2025-02-12T02:10:00+02:00', 'a "+" is written %2B'],
    ['snapshots?every=7m', '400 every: given 7m, expected a multiple of the snapshot period, 10m'],
    [`owners/${ALICE}/history?every=1s`, '400 every: given 1s, expected a multiple of the snapshot period, 10m'],
    [
      'snapshots?from=2025-02-12T00:40:00Z&to=2025-02-12T00:30:00Z',
      '400 from: given 2025-02-12T00:40:00Z, expected a time at or before "to", which is 2025-02-12T00:30:00Z',
    ],
    ['owners/nobody/history', '400 party: given "nobody", expected a party id'],
    ['owners/%ff::1220/changes', '400 party: given'],
    [
      'owners/nobody::1220/locks?record_time=1999-01-01T00:00:00Z',
      '404 No snapshots found before 1999-01-01T00:00:00Z',
    ],
    [`owners/${ALICE}/history?limit=5`, '400 limit: given "5", expected no such parameter'],
  ])('%s: %s', async (target, said) => {
    expect(await fault(target)).toContain(said);
  });

  test.each([
    ['top?record_time=2025-02-11T23:00:00Z', { code: 'missing', nearest: story.snapshots[0]!.record_time }],
    ['owners?migration_id=7', { code: 'missing' }],
    ['snapshots?every=7m', { code: 'refused' }],
    [
      `top?after=${Buffer.from('["top",[["by","total"]],"0","2025-02-12T00:31:00Z","1"]').toString('base64url')}`,
      { code: 'unanswerable' },
    ],
    ['top?limit=0', { code: 'invalid' }],
    ['nothing', { code: 'invalid' }],
  ])('%s: %j for programs', async (target, details) => {
    const body: unknown = await (await app.request(`${V1}/${target}`)).json();
    expect(OWN_ERROR.parse(body)).toEqual({ error: expect.any(String), ...details });
  });

  test('at another path of the area, or of the documents, is told of /docs', async () => {
    for (const path of [V1, '/openapi.json']) {
      const response = await app.request(path);
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: `no such path: ${path}; /docs has all of them` },
      ]);
    }
  });

  test('of a range without rows is answered with none', async () => {
    for (const target of ['snapshots', `owners/${ALICE}/history`, `owners/${ALICE}/changes`])
      for (const query of ['from=2099-01-01T00:00:00Z', 'to=1970-01-01T00:00:00Z', 'from=9999-12-31T23:59:59Z']) {
        const response = await app.request(`${V1}/${target}?${query}`);
        expect(response.status).toBe(200);
        const { rows, next } = readTable(await response.text());
        expect({ rows, next }).toEqual({ rows: [], next: null });
        const csv = await app.request(`${V1}/${target}?${query}&format=csv`);
        expect(await csv.text()).toMatch(/^record_time,[a-z_,]+\r\n$/);
      }
  });

  test('with HEAD has the headers of GET and no body', async () => {
    for (const target of [...TARGETS, 'owners?limit=all&format=csv']) {
      const [head, get] = [
        await app.request(`${V1}/${target}`, { method: 'HEAD' }),
        await app.request(`${V1}/${target}`),
      ];
      expect(head.status).toBe(200);
      expect([...head.headers]).toEqual([...get.headers]);
      expect(await head.text()).toBe('');
    }
  });
});

describe('a page token', () => {
  test('says all that was asked, so that it may stand alone or beside the same', async () => {
    const given = { migration_id: 0, order: 'asc', from: '2025-02-12T00:20:00Z' };
    const after = await firstToken(`${V1}/snapshots`, { ...given, limit: 2 });
    const texts = new Set<string>();
    for (const beside of [
      {},
      given,
      { order: 'asc' },
      { from: '2025-02-12T01:20:00+01:00' },
      { limit: 100, format: 'json' },
    ])
      texts.add(await (await askTable(app, `${V1}/snapshots`, { ...beside, after })).text());
    expect(texts.size).toBe(1);
    expect(readTable([...texts][0]!).rows[0]).toMatchObject({ record_time: '2025-02-12T00:40:00Z' });
  });

  test('goes with the snapshot that it was made of, named or not', async () => {
    const after = await firstToken(`${V1}/top`, { limit: 1 });
    const newest = story.snapshots.at(-1)!.record_time;
    for (const beside of [{}, { record_time: newest }, { migration_id: 0 }, { by: 'total' }])
      expect((await askTable(app, `${V1}/top`, { ...beside, after })).status).toBe(200);
  });

  test.each([
    ['top', { limit: 1 }, { by: 'locked' }, 'by: given "locked", expected total, as for the page before'],
    [
      'top',
      { limit: 1 },
      { record_time: '2025-02-12T00:30:00Z' },
      'record_time: given "2025-02-12T00:30:00Z", expected 2025',
    ],
    ['top', { limit: 1 }, { migration_id: 1 }, 'migration_id: given "1", expected 0, as for the page before'],
    ['snapshots', { limit: 1 }, { order: 'asc' }, 'order: given "asc", expected desc, as'],
    [
      'snapshots',
      { limit: 1 },
      { from: '2025-02-12T00:30:00Z' },
      'from: given "2025-02-12T00:30:00Z", expected nothing, as',
    ],
    ['snapshots', { limit: 1, every: '10m' }, { every: '20m' }, 'every: given "20m", expected 10m, as'],
    ['owners', { limit: 1 }, { prefix: 'a' }, 'prefix: given "a", expected nothing, as'],
    [`owners/${ALICE}/changes`, { limit: 1 }, { to: '2025-02-12T00:30:00Z' }, 'to: given'],
  ])('of %s %j is refused beside %j', async (target, given, other, said) => {
    const after = await firstToken(`${V1}/${target}`, given);
    const response = await askTable(app, `${V1}/${target}`, { ...other, after });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toContain(said);
  });

  test('is no token of another party or operation', async () => {
    const after = await firstToken(`${V1}/owners/${ALICE}/changes`, { limit: 1 });
    expect(await fault(`owners/nobody::1220ee/changes?after=${after}`)).toContain(`expected ${ALICE}, as`);
    expect(await fault(`owners?after=${after}`)).toContain('after: given');
  });

  test('that is made up is refused, or asks what might be asked', async () => {
    const made = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
    const time = '2025-02-12T00:30:00Z';
    const top = [['by', 'total']];
    for (const token of [
      made('top', top, '0', time),
      made('top', top, '0', '2025-02-12T00:31:00Z', '1'),
      made('top', [['by', 'size']], '0', time, '1'),
      made('top', [['by']], '0', time, '1'),
      made('top', { by: 'total' }, '0', time, '1'),
      made('top', top, '0', time, 'x'),
      `${made('top', top, '0', time, '1')}=`,
      '[',
    ])
      expect(await fault(`top?after=${token}`), token).toMatch(/^400 after: /);
    for (const [target, last] of [
      ['snapshots', 'x'],
      ['snapshots', '2025-02-12'],
      [`owners/${ALICE}/changes`, ''],
    ] as const) {
      const table = target === 'snapshots' ? 'snapshots' : 'changes';
      expect(
        await fault(`${target}?after=${made(table, table === 'changes' ? [['party', ALICE]] : [], '0', time, last)}`),
      ).toMatch(/^400 after: /);
    }
    expect(await fault(`top?after=${made('top', top, '7', time, '1')}`)).toMatch(/^404 /);
    const behind = made('top', top, '0', time, '9999999999');
    expect(readTable(await (await app.request(`${V1}/top?after=${behind}`)).text()).rows).toEqual([]);
    const before = made('owners', [['prefix', 'b']], '0', time, '');
    expect(readTable(await (await app.request(`${V1}/owners?after=${before}`)).text()).rows).toEqual([]);
    expect(service.log).toEqual([]);
  });
});
