import { describe, expect, it } from 'vitest';
import { fetchKeySet } from '../../src/users/tokens/fetch-key-set.ts';
import { freePorts } from '../support/program/free-ports.ts';
import { makeKey, startKeyServer } from '../support/users/keys.ts';

const { signal: closed } = new AbortController();

describe('fetching a key set', () => {
  it('ends in its time, also where a server drips its answer', async () => {
    await using server = await startKeyServer();
    server.answers.set('/drips', (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    await expect(fetchKeySet(`${server.url}/drips`, { closed, timeoutMs: 300 })).rejects.toThrow(/timeout/);
  });

  it('ends with the users', async () => {
    await using server = await startKeyServer();
    server.answers.set('/hangs', () => {});
    const closing = new AbortController();
    const fetching = fetchKeySet(`${server.url}/hangs`, { closed: closing.signal });
    closing.abort(new Error('the service is stopping'));
    await expect(fetching).rejects.toThrow('the service is stopping');
  });

  it('says why it failed where no server listens', async () => {
    const [port] = await freePorts(1);
    await expect(fetchKeySet(`http://127.0.0.1:${port}`, { closed })).rejects.toThrow(/ECONNREFUSED/);
  });

  it('does not take a compressed document for a small one', async () => {
    const { gzipSync } = await import('node:zlib');
    await using server = await startKeyServer();
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    server.answers.set('/bomb', (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    await expect(fetchKeySet(`${server.url}/bomb`, { closed })).rejects.toThrow(/larger than 1048576 bytes/);
  });

  it('finds a key by its kid and the algorithm of its type', async () => {
    await using server = await startKeyServer();
    await server.publish('/keys', makeKey('RS256', 'a'), makeKey('ES512', 'a'));
    const keySet = await fetchKeySet(`${server.url}/keys`, { closed });
    expect(keySet.key('a', 'RS256')?.asymmetricKeyType).toBe('rsa');
    expect(keySet.key('a', 'ES512')?.asymmetricKeyDetails?.namedCurve).toBe('secp521r1');
    expect(keySet.key('a', 'ES256')).toBeNull();
    expect(keySet.key('b', 'RS256')).toBeNull();
    expect(keySet.key('a', 'RS256')).toBe(keySet.key('a', 'RS256'));
  });
});
