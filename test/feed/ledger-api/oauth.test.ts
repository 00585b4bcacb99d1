import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { createOauthTokens } from '../../../src/feed/ledger-api/oauth-tokens.ts';
import type { OauthSettings } from '../../../src/feed/network/network-settings.ts';
import { forwardingLogger } from '../../../src/threads/serve-thread.ts';
import type { LogLine } from '../../../src/threads/thread.ts';
import type { ReadSource } from '../../support/feed/read-source.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { readParticipant } from '../../support/ledger-api/read-participant.ts';

const LINES = participantLedger(61, 120);
const participant = freshParticipant({ lines: LINES.slice(0, 60), token: 'none yet' });

/** Gives a new token each time, which the participant takes from then on alone; in place of one what a proxy says. */
async function startTokenServer(secondsOf: (given: number) => number | 'bad gateway') {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    asked.push(body);
    const seconds = secondsOf(asked.length);
    if (seconds === 'bad gateway') {
      response.writeHead(502, { 'content-type': 'text/html' });
      return response.end('<html>Bad gateway</html>');
    }
    const isClient = new URLSearchParams(body).get('client_secret') === 'a-secret-word';
    const token = `token-${asked.length}`;
    if (isClient) participant.change({ token });
    const found = isClient
      ? { access_token: token, token_type: 'Bearer', expires_in: seconds }
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
  using tokens = await startTokenServer((given) => (given === 1 ? 1 : 3600));
  await using reading = await read(tokens.url);
  // The first ends after a second, and another takes its place before anything fails.
  await expect.poll(() => tokens.asked.length).toBeGreaterThan(1);
  await reading.until({ stopped: null, network: { errors_in_a_row: 0 } });
  // One that is taken back in the middle of a stream is replaced.
  const given = tokens.asked.length;
  participant.change({ token: 'another' });
  participant.add(...LINES.slice(60));
  await reading.until({ position: String(offsetOf(LINES.at(-1)!)) });
  expect(tokens.asked.length).toBeGreaterThan(given);
  expect(Object.fromEntries(new URLSearchParams(tokens.asked[0]))).toEqual({
    grant_type: 'client_credentials',
    client_id: 'holdfast',
    client_secret: 'a-secret-word',
    audience: 'https://participant',
    scope: 'daml_ledger_api',
  });
  expect(JSON.stringify([reading.log, reading.telemetry])).not.toMatch(/a-secret-word|token-\d/);
});

it('a client that is not known is what readiness says, without its secret', async () => {
  using tokens = await startTokenServer(() => 3600);
  await using reading = await read(tokens.url, 'another-secret-word');
  const reason = /\/token: answers 401 \(invalid_client: no such client\)$/;
  await reading.until({ stopped: expect.stringMatching(reason) });
  expect(JSON.stringify([reading.log, reading.telemetry])).not.toContain('secret-word');
});

it('a server of tokens behind a proxy that has lost it is asked again, and readiness says so until then', async () => {
  let isLost = true;
  using tokens = await startTokenServer(() => (isLost ? 'bad gateway' : 3600));
  await using reading = await read(tokens.url);
  await reading.until({ stopped: expect.stringMatching(/\/token: answers 502$/) });
  isLost = false;
  await reading.until({ stopped: null });
});

it('a renewal that fails is logged, with the token that is still good', async () => {
  using server = await startTokenServer((given) => (given === 1 ? 100 : 'bad gateway'));
  const lines: LogLine[] = [];
  const logger = forwardingLogger((line) => lines.push(structuredClone(line)));
  const tokens = createOauthTokens(clientOf(server.url), { ca: null, logger });
  const { signal } = new AbortController();
  const first = await tokens.get(signal);
  vi.useFakeTimers({ toFake: ['Date'], now: tokens.renewAt()! });
  expect(await tokens.get(signal)).toBe(first);
  expect(lines.at(-1)).toMatchObject({
    message: expect.stringMatching(/^the token is not renewed yet/),
    fields: { err: { message: expect.stringMatching(/answers 502$/) } },
  });
});

it.each([0, 0.001])('a token for %d s does not make it ask for the next one at once', async (seconds) => {
  using server = await startTokenServer(() => seconds);
  const tokens = createOauthTokens(clientOf(server.url), { ca: null, logger: forwardingLogger(() => {}) });
  const { signal } = new AbortController();
  await tokens.get(signal);
  await tokens.get(signal);
  expect(server.asked).toHaveLength(1);
});
