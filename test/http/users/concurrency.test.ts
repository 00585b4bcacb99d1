import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, ask } from '../../support/users/cases.ts';
import { startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
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
