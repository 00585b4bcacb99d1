import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { createOauthTokens } from '../../../src/feed/ledger-api/oauth-tokens.ts';
import type { OauthSettings } from '../../../src/feed/network/network-settings.ts';
import type { ReadSource } from '../../support/feed/read-source.ts';
import { keepingLogger } from '../../support/kafka/reading.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { readParticipant } from '../../support/ledger-api/read-participant.ts';

const LINES = participantLedger(61, 120);
const participant = freshParticipant({ lines: LINES.slice(0, 60), token: 'none yet' });

/** Gives a new token each time, which the participant takes from then on alone; in place of one what a proxy says. */
async function startTokenServer(isLost = (): boolean => false) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    asked.push(body);
    if (isLost()) {
      response.writeHead(502, { 'content-type': 'text/html' });
      return response.end('<html>Bad gateway</html>');
    }
    const isClient = new URLSearchParams(body).get('client_secret') === 'a-secret-word';
    const token = `token-${asked.length}`;
    if (isClient) participant.change({ token });
    const found = isClient
      ? { access_token: token, token_type: 'Bearer', expires_in: 100 }
      : { error: 'invalid_client', error_description: 'no such client' };
    response.writeHead(isClient ? 200 : 401, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const clientOf = (tokenUrl: string, clientSecret = 'a-secret-word'): OauthSettings => {
  return { tokenUrl, clientId: 'holdfast', clientSecret, audience: 'https://participant', scope: 'daml_ledger_api' };
};

const read = (tokenUrl: string, clientSecret?: string): Promise<ReadSource> =>
  readParticipant(participant, { parties: ownersIn(LINES), oauth: clientOf(tokenUrl, clientSecret) });

afterEach(() => {
  vi.useRealTimers();
});

it('client credentials give a token that is renewed before its end, and asked for again where it is not taken', async () => {
  let isLost = false;
  using tokens = await startTokenServer(() => isLost);
  await using reading = await read(tokens.url);
  await reading.until({ stopped: null });
  // One that is taken back in the middle of a stream is replaced.
  participant.change({ token: 'another' });
  participant.add(...LINES.slice(60));
  await reading.until({ position: String(offsetOf(LINES.at(-1)!)), network: { errors_in_a_row: 0 } });
  expect(tokens.asked).toHaveLength(2);
  expect(Object.fromEntries(new URLSearchParams(tokens.asked[0]))).toEqual({
    grant_type: 'client_credentials',
    client_id: 'holdfast',
    client_secret: 'a-secret-word',
    audience: 'https://participant',
    scope: 'daml_ledger_api',
  });
  expect(JSON.stringify([reading.log, reading.telemetry])).not.toMatch(/a-secret-word|token-\d/);
  const logger = keepingLogger();
  const own = createOauthTokens(clientOf(tokens.url), { ca: null, logger });
  const { signal } = new AbortController();
  const first = await own.get(signal);
  const now = Date.now();
  const after = (seconds: number, used = signal): Promise<string | null> => {
    vi.useFakeTimers({ toFake: ['Date'], now: now + seconds * 1000 });
    return own.get(used);
  };
  expect(await after(80)).toBe(first);
  isLost = true;
  await expect(after(94, AbortSignal.abort())).rejects.toThrow();
  expect([await after(95), await after(96)]).toEqual([first, first]);
  expect(tokens.asked).toHaveLength(4);
  expect(logger.lines.filter(({ message }) => message.startsWith('Could not renew'))).toHaveLength(1);
  await expect(after(101)).rejects.toThrow(/answers 502$/);
  isLost = false;
  expect(await after(102)).not.toBe(first);
});

it('a client that is not known is what readiness says, without its secret', async () => {
  using tokens = await startTokenServer();
  await using reading = await read(tokens.url, 'another-secret-word');
  const reason = /\/token: answers 401 \(invalid_client: no such client\)$/;
  await reading.until({ stopped: expect.stringMatching(reason) });
  expect(JSON.stringify([reading.log, reading.telemetry])).not.toContain('secret-word');
});

it('a server of tokens behind a proxy that has lost it is asked again, and readiness says so until then', async () => {
  let isLost = true;
  using tokens = await startTokenServer(() => isLost);
  await using reading = await read(tokens.url);
  await reading.until({ stopped: expect.stringMatching(/\/token: answers 502$/) });
  isLost = false;
  await reading.until({ stopped: null });
});
