import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, ask, checkAnswer } from '../../support/users/cases.ts';
import { onTransaction } from '../../support/users/on-transaction.ts';
import { startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ maxRightsPerUser: 5 });
});
afterAll(() => world[Symbol.asyncDispose]());

const TIMES = 20;
const atOnce = (request: string, body: (at: number) => object): Promise<Answered[]> =>
  Promise.all(Array.from({ length: TIMES }, (_, at) => ask(world, 'admin', request, JSON.stringify(body(at)))));
const statuses = (answers: readonly Answered[]): number[] => answers.map(({ status }) => status).sort();
const oneOf = (winner: number, others: number): number[] => [winner, ...Array<number>(TIMES - 1).fill(others)].sort();
const right = { kind: { CanActAs: { value: { party: 'p' } } } };

async function made(id: string, rest: object = {}): Promise<void> {
  expect((await ask(world, 'admin', 'POST /v2/users', JSON.stringify({ user: { id }, ...rest }))).status).toBe(200);
}

describe(`${TIMES} requests at once`, () => {
  it('that create one user: one wins, the others read that it exists', async () => {
    const answers = await atOnce('POST /v2/users', (at) => ({ user: { id: 'contested', primaryParty: `p${at}` } }));
    expect(statuses(answers)).toEqual(oneOf(200, 409));
    const winner = JSON.parse(answers.find(({ status }) => status === 200)!.text);
    expect(JSON.parse((await ask(world, 'admin', 'GET /v2/users/contested')).text)).toEqual(winner);
  });

  it('that change one user on the same version: one wins, the others read of the concurrent update', async () => {
    await made('versioned');
    const answers = await atOnce('PATCH /v2/users/versioned', (at) => ({
      user: { id: 'versioned', primaryParty: `p${at}`, metadata: { resourceVersion: '0' } },
      updateMask: { paths: ['primary_party'] },
    }));
    expect(statuses(answers)).toEqual(oneOf(200, 409));
    expect(answers.filter(({ text }) => text.includes('CONCURRENT_USER_UPDATE_DETECTED'))).toHaveLength(TIMES - 1);
  });

  it('that add different annotations: none is lost', async () => {
    await made('annotated');
    const answers = await atOnce('PATCH /v2/users/annotated', (at) => ({
      user: { id: 'annotated', metadata: { annotations: { [`k${at}`]: String(at) } } },
      updateMask: { paths: ['metadata'] },
    }));
    expect(statuses(answers)).toEqual(Array(TIMES).fill(200));
    const { user } = JSON.parse((await ask(world, 'admin', 'GET /v2/users/annotated')).text);
    expect(user.metadata.resourceVersion).toBe(String(TIMES));
    expect(Object.keys(user.metadata.annotations)).toHaveLength(TIMES);
  });

  it('F22 that revoke one right: exactly one has it in its answer', async () => {
    await made('revoked', { rights: [right] });
    const answers = await atOnce('PATCH /v2/users/revoked/rights', () => ({ userId: 'revoked', rights: [right] }));
    expect(statuses(answers)).toEqual(Array(TIMES).fill(200));
    expect(answers.filter(({ text }) => text !== '{"newlyRevokedRights":[]}')).toHaveLength(1);
  });

  it('that fill the last places of providers: no more than sixteen', async () => {
    const answers = await atOnce('POST /v2/idps', (at) => ({
      identityProviderConfig: { identityProviderId: `n${at}`, issuer: `n${at}`, jwksUrl: 'https://n.example' },
    }));
    expect(statuses(answers)).toEqual([...Array<number>(14).fill(200), ...Array<number>(TIMES - 14).fill(400)]);
  });
});

const actsAs = (party: string): string => `{"kind":{"CanActAs":{"value":{"party":"${party}"}}}}`;
const named = (...parties: string[]): string => parties.map(actsAs).join(',');
const rightsOf = (id: string): number => world.area.users.reader.rights(id).length;

const create = async (id: string, rights: string): Promise<void> => {
  const body = `{"user":{"id":"${id}"},"rights":[${rights}]}`;
  expect((await ask(world, 'admin', 'POST /v2/users', body)).status).toBe(200);
};

async function grant(id: string, rights: string, expected: string): Promise<string> {
  const answered = await ask(world, 'admin', `POST /v2/users/${id}/rights`, `{"userId":"${id}","rights":[${rights}]}`);
  if (expected === '500') expect(answered.status).toBe(500);
  else checkAnswer(answered, expected, rights.slice(0, 200));
  return answered.text;
}

/** From then on no right of this party can be stored: an insert of one is a failure of ours, and no refusal. */
function forbidInsertOf(party: string): void {
  const db = new DatabaseFile(join(world.area.dataDir, 'users.db'));
  db.exec(`CREATE TRIGGER forbid_${party} BEFORE INSERT ON user_right WHEN NEW.party = '${party}'
    BEGIN SELECT RAISE(ABORT, 'inserted'); END`);
  db.close();
}

const TOO_MANY = '400 TOO_MANY_USER_RIGHTS ~would have too many rights';

describe('the rights of a user', () => {
  it('are counted before one of them is stored', async () => {
    await create('counted', named('h1', 'h2', 'h3'));
    forbidInsertOf('watched');
    await grant('counted', named('watched'), '500');
    await grant('counted', named('watched', 'n1', 'n2'), TOO_MANY);
    await grant('counted', named('watched', ...Array.from({ length: 5_000 }, (_, at) => `p${at}`)), TOO_MANY);
    expect(rightsOf('counted')).toBe(3);
  });

  it('count once, however often a request names them, and not again where the user has them', async () => {
    await create('full', named('a', 'b', 'c', 'd', 'e', 'a', 'b', 'e'));
    expect(rightsOf('full')).toBe(5);
    expect(await grant('full', named('e', 'd', 'c', 'b', 'a', 'a'), '200')).toBe('{"newlyGrantedRights":[]}');
    await grant('full', named('a', 'new'), TOO_MANY);
    await create('half', named('a', 'b'));
    const granted = await grant('half', named('d', 'a', 'c', 'd', 'b', 'c', 'e'), '200');
    expect(granted).toBe(`{"newlyGrantedRights":[${named('d', 'c', 'e')}]}`);
    expect(rightsOf('half')).toBe(5);
  });

  it('are revoked once each, of many named those that the user had', async () => {
    await create('three', named('a', 'b', 'c'));
    const many = named('c', ...Array.from({ length: 5_000 }, (_, at) => `p${at}`), 'a', 'c');
    const body = `{"userId":"three","rights":[${many}]}`;
    const { status, text } = await ask(world, 'admin', 'PATCH /v2/users/three/rights', body);
    expect([status, text]).toEqual([200, `{"newlyRevokedRights":[${named('c', 'a')}]}`]);
    expect(world.area.users.reader.rights('three')).toEqual([{ kind: 'CanActAs', party: 'b' }]);
  });
});

/** While a request waits for the database, all others wait for it. */
const WAIT_MAX_MS = 100;

describe('users.db in the hands of another program', () => {
  it('is a 503 that may be tried again, and delays no other request', async () => {
    const createHeld = () => ask(world, 'admin', 'POST /v2/users', '{"user":{"id":"held"}}');
    const other = new DatabaseFile(join(world.area.dataDir, 'users.db'));
    other.exec('BEGIN IMMEDIATE');
    let waitsMs: unknown;
    using _heard = onTransaction((db) => {
      waitsMs = db.pragma('busy_timeout', { simple: true });
    });
    const [refused, read] = await Promise.all([createHeld(), ask(world, 'admin', 'GET /v2/authenticated-user')]);
    expect(waitsMs).toBeLessThanOrEqual(WAIT_MAX_MS);
    expect(read.status).toBe(200);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'INDEX_DB_SQL_TRANSIENT_ERROR',
      cause: 'nothing was changed: users.db cannot be written now (database is locked)',
      grpcCodeValue: 14,
      retryInfo: '1 second',
    });
    other.exec('ROLLBACK');
    other.close();
    expect((await createHeld()).status).toBe(200);
  });
});
