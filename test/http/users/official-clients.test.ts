import { LedgerClient } from '@canton-network/core-ledger-client';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../../support/users/world.ts';

/** The ledger's own client, unchanged: what it cannot do with a real participant it need not do with us. */
describe('@canton-network/core-ledger-client', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function clientOf(who: string): Promise<LedgerClient> {
    const accessToken = (await world.token(who)) ?? '';
    const accessTokenProvider = {
      getAccessToken: async () => accessToken,
      getAuthContext: async () => ({ userId: who, accessToken }),
    };
    const logger = pino({ level: 'silent' });
    return new LedgerClient({ baseUrl: new URL(world.area.url), logger, accessTokenProvider });
  }

  it('settles on the version that we speak', async () => {
    const client = await clientOf('admin');
    await client.init();
    expect(client.getCurrentClientVersion()).toBe('3.4');
  });

  it('creates a user, once, and reads it', async () => {
    const client = await clientOf('admin');
    const created = await client.createUser('master', 'party1');
    expect(created).toMatchObject({ id: 'master', primaryParty: 'party1', isDeactivated: false });
    expect(await client.createUser('master', 'party2')).toEqual(created);
    const path = { 'user-id': 'master' };
    expect((await client.get('/v2/users/{user-id}', { path })).user).toEqual(created);
    expect((await client.get('/v2/users/{user-id}/rights', { path })).rights).toEqual([
      { kind: { ParticipantAdmin: { value: {} } } },
    ]);
  });

  it('creates, changes, lists and deletes users, odd ids among them', async () => {
    const client = await clientOf('admin');
    const id = "CreatedUser@^$.!`-#+'~_|:";
    const path = { 'user-id': id };
    await client.post('/v2/users', { user: { id }, rights: [] });
    const body = {
      user: { id, metadata: { resourceVersion: '0', annotations: { colour: 'red' } } },
      updateMask: { paths: ['metadata'], unknownFields: { fields: {} } },
    };
    const changed = await client.patch('/v2/users/{user-id}', body as never, { path });
    expect(changed.user?.metadata).toEqual({ resourceVersion: '1', annotations: { colour: 'red' } });
    const list = await client.get('/v2/users', { query: { pageSize: '100' } });
    expect(list.users?.map((user) => user.id)).toContain(id);
    // The client has no method of its own for DELETE; its typed connection has.
    const connection = client['currentClient'];
    const deleted = await connection.DELETE('/v2/users/{user-id}', { params: { path } });
    expect([deleted.response.status, deleted.data]).toEqual([200, {}]);
    await expect(client.get('/v2/users/{user-id}', { path })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });

  it('grants rights', async () => {
    const client = await clientOf('admin');
    await client.post('/v2/users', { user: { id: 'granted' } } as never);
    await client.grantMasterUserRights('granted', true, true);
    const granted = await client.grantRights('granted', {
      actAs: ['a::1220aa' as never],
      readAs: ['b::1220bb' as never],
    });
    expect(granted.newlyGrantedRights).toHaveLength(2);
  });

  it('reads its own record', async () => {
    for (const who of ['admin', 'plain', 'xplain']) {
      const record = await (await clientOf(who)).get('/v2/authenticated-user');
      expect(record.user?.id).toBe(who === 'admin' ? 'participant_admin' : who);
    }
  });

  it('reads the reason of a refusal', async () => {
    const client = await clientOf('plain');
    await expect(client.get('/v2/users')).rejects.toMatchObject({ code: 'NA', grpcCodeValue: 7 });
    const stranger = await clientOf('nobody');
    await expect(stranger.get('/v2/authenticated-user')).rejects.toMatchObject({ code: 'NA', grpcCodeValue: 16 });
  });
});
