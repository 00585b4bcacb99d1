import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { EMPTY_USER } from '../../../src/users/user-requests.ts';
import { type Answered, ask } from '../../support/users/cases.ts';
import { startWorld } from '../../support/users/world.ts';

const RECORD = 'GET /v2/authenticated-user';

describe('the limit of failed authentications', () => {
  it('refuses further failures of an address with 429, and never a valid token', async () => {
    const nowMs = Date.now();
    await using world = await startWorld({ failedAuthPerMinute: 3 }, { nowMs: () => nowMs });
    for (const who of ['nobody', 'x.y.z', 'nobody']) expect((await ask(world, who, RECORD)).status).toBe(401);
    for (const who of ['nobody', 'x.y.z']) {
      const refused = await ask(world, who, RECORD);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    for (const who of ['plain', 'xplain', 'admin']) expect((await ask(world, who, RECORD)).status).toBe(200);
    expect((await ask(world, 'plain', 'GET /v2/users')).status).toBe(403);
    expect((await ask(world, 'nobody', 'GET /v2/version')).status).toBe(200);
  });
});

describe('the limits of counts', () => {
  it('refuse more users than there may be, with a message that says so', async () => {
    await using world = await startWorld({ maxUsers: 9 });
    expect(world.area.users.write((users) => users.userCount)).toBe(8);
    expect((await ask(world, 'admin', 'POST /v2/users', '{"user":{"id":"ninth"}}')).status).toBe(200);
    const refused = await ask(world, 'admin', 'POST /v2/users', '{"user":{"id":"tenth"}}');
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'TOO_MANY_USERS',
      cause: expect.stringContaining('already 9 users'),
    });
    expect((await ask(world, 'admin', 'DELETE /v2/users/ninth')).status).toBe(200);
    expect((await ask(world, 'admin', 'POST /v2/users', '{"user":{"id":"tenth"}}')).status).toBe(200);
  });

  it('of rights and of pages are those of the settings, and /v2/version names them', async () => {
    await using world = await startWorld({ maxRightsPerUser: 1, maxUsersPageSize: 2 });
    const version = JSON.parse((await ask(world, 'nobody', 'GET /v2/version')).text);
    expect(version.features.userManagement).toEqual({ supported: true, maxRightsPerUser: 1, maxUsersPageSize: 2 });
    const page = JSON.parse((await ask(world, 'xadmin', 'GET /v2/users?pageSize=100')).text);
    expect(page).toMatchObject({ users: [{ id: 'xadmin' }, { id: 'xpa' }], nextPageToken: 'CgN4cGE=' });
    const rights =
      '{"userId":"xplain","rights":[{"kind":{"CanExecuteAs":{"value":{"party":"p"}}}},{"kind":{"IdentityProviderAdmin":{"value":{}}}}]}';
    expect((await ask(world, 'xadmin', 'POST /v2/users/xplain/rights', rights)).text).toContain('TOO_MANY_USER_RIGHTS');
    expect(world.area.users.reader.rights('xplain')).toEqual([]);
  });

  it('cut a page at 8 MiB, and lose no user', async () => {
    await using world = await startWorld();
    const annotations = new Map([['a', 'v'.repeat(60_000) + '\u0000'.repeat(60_000)]]);
    world.area.users.write((users) => {
      for (let at = 10; at < 60; at += 1)
        users.insertUser({ ...EMPTY_USER, id: `y${at}`, identityProviderId: 'Y', resourceVersion: 0n, annotations });
    });
    const ids: string[] = [];
    let token = '';
    let pages = 0;
    do {
      const { text } = await ask(world, 'yadmin', `GET /v2/users?pageToken=${token}`);
      expect(text.length).toBeLessThanOrEqual(8 * 1024 * 1024);
      pages += 1;
      const page = JSON.parse(text) as { users: { id: string }[]; nextPageToken: string };
      ids.push(...page.users.map(({ id }) => id));
      token = page.nextPageToken;
    } while (token !== '');
    expect(pages).toBeGreaterThan(2);
    expect(ids).toEqual([...Array.from({ length: 50 }, (_, at) => `y${10 + at}`), 'yadmin', 'ypa', 'yplain']);
  });
});

describe('the log', () => {
  const lineOf = (log: readonly string[], { text }: Answered): Record<string, unknown> => {
    const { traceId } = JSON.parse(text) as { traceId: string };
    return JSON.parse(log.find((line) => line.includes(traceId))!) as Record<string, unknown>;
  };

  it('says who did what to whom, with what outcome', async () => {
    await using world = await startWorld();
    const { log } = world.area;
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await ask(world, 'xadmin', 'POST /v2/users', '{"user":{"id":"made"}}', { traceparent });
    const made = {
      requestId: '0af7651916cd43dd8448eb211c80319c',
      operation: 'createUser',
      userId: 'xadmin',
      subject: 'made',
      status: 200,
    };
    expect(JSON.parse(log.find((line) => line.includes('"made"'))!)).toMatchObject(made);
    expect(lineOf(log, await ask(world, 'plain', 'DELETE /v2/users/xadmin'))).toMatchObject({
      operation: 'deleteUser',
      userId: 'plain',
      subject: 'xadmin',
      status: 403,
      code: 'PERMISSION_DENIED',
      reason: 'neither a participant admin nor an identity provider admin',
    });
    expect(lineOf(log, await ask(world, 'nobody', RECORD))).toMatchObject({
      userId: null,
      status: 401,
      reason: 'no token',
    });
    expect(lineOf(log, await ask(world, 'stranger', RECORD))).toMatchObject({
      userId: 'stranger',
      status: 403,
      reason: "the token's user is unknown",
    });
  });

  it('never has a token, a secret or the value of an annotation', async () => {
    await using world = await startWorld();
    const annotations = { key: 'annotated-value', other: '' };
    const body = JSON.stringify({ user: { id: 'annotated', metadata: { annotations } } });
    await ask(world, 'admin', 'POST /v2/users', body);
    await ask(world, 'admin', 'POST /v2/users', body.replace(',"other":""', ''));
    await ask(world, 'admin', 'POST /v2/users', `${body}}`);
    await ask(world, 'admin', 'GET /v2/users/annotated');
    await ask(world, 'plain', 'POST /v2/users', body);
    await ask(world, 'nobody', 'POST /v2/users', body, { authorization: 'Bearer aaaa.bbbb.cccc' });
    await ask(world, 'nobody', 'GET /v2/users', null, {
      'sec-websocket-protocol': `jwt.token.${await world.token('admin')}`,
    });
    const log = world.area.log.join('');
    expect(log.length).toBeGreaterThan(1000);
    expect(log).not.toContain('annotated-value');
    expect(log).not.toContain('aaaa.bbbb');
    expect(log).not.toContain('a secret of the tests');
    for (const who of ['admin', 'plain']) expect(log).not.toContain((await world.token(who))!.slice(-20));
  });
});

describe('a fault of ours', () => {
  it('is answered without its text, and is in the log under the id that the answer has', async () => {
    await using world = await startWorld();
    const { users, log } = world.area;
    expect((await ask(world, 'admin', RECORD)).status).toBe(200);
    const db = new Database(join(world.area.dataDir, 'users.db'));
    db.exec('DROP TABLE user_annotation');
    db.close();
    users.write(() => {});
    const answered = await ask(world, 'plain', RECORD);
    expect(answered.status).toBe(500);
    const body = JSON.parse(answered.text);
    expect(body).toMatchObject({ code: 'NA', grpcCodeValue: 13, errorCategory: -1, context: {} });
    expect(answered.text).not.toMatch(/user_annotation|SQLITE|no such table/);
    const line = JSON.parse(log.find((text) => text.includes(body.traceId))!);
    expect(line).toMatchObject({
      level: 50,
      operation: 'getAuthenticatedUser',
      err: { message: 'no such table: user_annotation' },
    });
  });
});
