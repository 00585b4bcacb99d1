import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { fetchFailure } from '../src/fetch-failure.ts';

/** Of a host with these addresses, at none of which anybody listens. */
function refused(...addresses: readonly string[]): Promise<Error> {
  const all = addresses.map((address) => ({ address, family: 4 }));
  return new Promise((resolve) =>
    connect({
      host: 'any.invalid',
      port: 1,
      autoSelectFamily: true,
      lookup: (_name, _how, done) => done(null, all),
    }).on('error', resolve),
  );
}

const failed = (cause?: Error): string => fetchFailure(new TypeError('fetch failed', { cause }));

it('says why a fetch failed, also where no one of several addresses answers', async () => {
  expect(failed(await refused('127.0.0.1'))).toBe('connect ECONNREFUSED 127.0.0.1:1');
  expect(failed(await refused('127.0.0.1', '127.0.0.2'))).toBe('ECONNREFUSED');
  expect(failed()).toBe('fetch failed');
});
