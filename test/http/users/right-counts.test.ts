import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, checkAnswer } from '../../support/users/cases.ts';
import { startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ maxRightsPerUser: 5 });
});
afterAll(() => world[Symbol.asyncDispose]());

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
  const db = new Database(join(world.area.dataDir, 'users.db'));
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
    await create('revoked', named('a', 'b', 'c'));
    const many = named('c', ...Array.from({ length: 5_000 }, (_, at) => `p${at}`), 'a', 'c');
    const body = `{"userId":"revoked","rights":[${many}]}`;
    const { status, text } = await ask(world, 'admin', 'PATCH /v2/users/revoked/rights', body);
    expect([status, text]).toEqual([200, `{"newlyRevokedRights":[${named('c', 'a')}]}`]);
    expect(world.area.users.reader.rights('revoked')).toEqual([{ kind: 'CanActAs', party: 'b' }]);
  });
});
