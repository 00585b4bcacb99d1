import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { type KeyServer, keyToken, makeKey, pem, type SigningKey, startKeyServer } from '../../support/users/keys.ts';
import { CLAIMS, KEY, type ProviderArea, startProviderArea } from '../../support/users/provider.ts';

const OTHER = makeKey('ES256', 'two');

/** A service before all identity providers; a user of its own is none of theirs, so the status says who vouched. */
describe('of several services that vouch, the first in order', () => {
  let first: KeyServer;
  let on: ProviderArea;
  let open: ServerResponse[];
  beforeEach(async () => {
    first = await startKeyServer();
    open = [];
    on = await startProviderArea({ authServices: [{ type: 'jwt-jwks', url: `${first.url}/keys` }] });
    on.addMember('own', '');
  });
  afterEach(async () => {
    await on[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
  });

  const ownToken = (n: number): Promise<string> => keyToken(KEY, { ...CLAIMS, sub: 'own', n });
  const memberToken = (n: number): Promise<string> => keyToken(KEY, { ...CLAIMS, n });
  const hold = (): void => void first.answers.set('/keys', (_, response) => void open.push(response));
  async function release(...keys: readonly SigningKey[]): Promise<void> {
    await first.publish('/keys', ...keys);
    for (const response of open.splice(0)) first.answers.get('/keys')!(response.req, response);
  }
  const isHeld = (): Promise<void> => expect.poll(() => open.length).toBe(1);

  it('decides, however late its keys come', async () => {
    hold();
    const asking = [on.status(ownToken(1)), on.status(ownToken(2))];
    await isHeld();
    // Long enough for the keys of the provider, which are fetched at the same time.
    await expect.poll(() => on.asked()).toBe(1);
    await sleep(300);
    await release(KEY);
    expect(await Promise.all(asking)).toEqual([200, 200]);
  });

  it('that does not vouch leaves it to the next, whose keys are there by then', async () => {
    hold();
    const asking = on.status(memberToken(1));
    await isHeld();
    await expect.poll(() => on.asked()).toBe(1);
    await release(OTHER);
    expect(await asking).toBe(200);
    expect(on.asked()).toBe(1);
  });

  it('decides as well where its keys have grown old and those of the next have not', async () => {
    await first.publish('/keys', OTHER);
    expect(await on.status(keyToken(OTHER, { sub: 'own' }))).toBe(200);
    expect(on.asked()).toBe(0);
    on.clock.nowMs += 10_000;
    expect(await on.status(memberToken(1))).toBe(200);
    on.clock.nowMs += 295_000;
    hold();
    const asking = on.status(ownToken(1));
    await isHeld();
    await release(KEY);
    expect(await asking).toBe(200);
    expect(on.asked()).toBe(1);
  });

  it('is passed over while its keys cannot be fetched, and does not delay tokens that another one verifies', async () => {
    first.answers.set('/keys', (_, response) => response.writeHead(503).end());
    expect(await on.status(memberToken(1))).toBe(200);
    on.clock.nowMs += 10_000;
    hold();
    for (let n = 0; n < 5; n += 1) {
      expect(await on.status(memberToken(n))).toBe(200);
      await isHeld();
      expect(open[0]!.writableEnded || open[0]!.destroyed).toBe(false);
    }
    // A token that no other service verifies waits for it.
    const asking = on.status(keyToken(OTHER, { ...CLAIMS, sub: 'own' }));
    expect(await on.status(ownToken(1))).toBe(403);
    await release(KEY, OTHER);
    expect(await asking).toBe(200);
    // What was decided without it is not believed for longer.
    expect(await on.status(ownToken(1))).toBe(200);
    expect(first.asked.get('/keys')).toBe(2);
  });
});

describe('configured services', () => {
  it('are used in order also while keys are fetched, and one that needs no fetch counts at its place', async () => {
    using directory = temporaryDirectory();
    await using keys = await startKeyServer();
    await keys.publish('/keys', KEY);
    const configured = makeKey('RS256', 'any');
    directory.writeLines('key.pem', [pem(configured)]);
    const authServices = [
      { type: 'jwt-rs-256-crt', certificate: directory.at('key.pem') },
      { type: 'jwt-jwks', url: `${keys.url}/keys` },
    ];
    await using on = await startProviderArea({ authServices });
    for (const [key, fetches] of [
      [configured, 0],
      [KEY, 1],
      [configured, 1],
    ] as const) {
      expect(await on.status(keyToken(key, { sub: 'participant_admin', fetches }))).toBe(200);
      expect(keys.asked.get('/keys') ?? 0).toBe(fetches);
    }
  });
});
