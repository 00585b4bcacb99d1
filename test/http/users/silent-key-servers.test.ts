import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { keyToken, secretToken, startKeyServer } from '../../support/users/keys.ts';
import { CLAIMS, KEY, startProviderArea } from '../../support/users/provider.ts';

/** Each waits for as long as one fetch may take, 10 s: at the same time. */
describe.concurrent('a key server that never answers', () => {
  it('does not delay tokens that another one verifies', async () => {
    await using on = await startProviderArea();
    on.keyServer.answers.set('/hangs', () => {});
    on.addProvider('Hangs', 'https://hangs.example', `${on.keyServer.url}/hangs`);
    const ended: string[] = [];
    const waiting = on.status(keyToken(KEY, { sub: 'x', iss: 'https://hangs.example' })).then((status) => {
      ended.push('its own');
      return status;
    });
    expect(await on.status(keyToken(KEY, CLAIMS))).toBe(200);
    expect(await on.status(secretToken({ sub: 'participant_admin' }))).toBe(200);
    expect(ended).toEqual([]);
    expect(await waiting).toBe(401);
    expect(on.asked('/hangs')).toBe(1);
  });

  it('is waited for by others for one fetch at most, and only the first time', async ({ expect }) => {
    await using first = await startKeyServer();
    const open: ServerResponse[] = [];
    first.answers.set('/keys', (_, response) => void open.push(response));
    await using on = await startProviderArea({ authServices: [{ type: 'jwt-jwks', url: `${first.url}/keys` }] });
    const memberToken = (n: number): Promise<string> => keyToken(KEY, { ...CLAIMS, n });
    expect(await Promise.all([on.status(memberToken(1)), on.status(memberToken(2))])).toEqual([200, 200]);
    on.clock.nowMs += 10_000;
    expect(await on.status(memberToken(3))).toBe(200);
    await expect.poll(() => open.length).toBe(2);
    expect(open.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  });
});
