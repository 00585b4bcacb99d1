import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createClientAddress, createConnectionClient } from '../../src/http/server/client-address.ts';

const TRUSTED = ['10.0.0.1', 'fd00::1', '::ffff:10.0.0.2'];

/** Of the facts about a connection only the peer's address is used. */
const socketOf = (remoteAddress: string): Socket => ({ remoteAddress }) as Socket;

function clientOf(peer: string, forwarded?: string): string {
  const header = (name: string): string | undefined => (name === 'x-forwarded-for' ? forwarded : undefined);
  const context = { env: { incoming: { socket: socketOf(peer) } }, req: { header } };
  return createClientAddress(TRUSTED)(context as never);
}

describe('the client of a connection', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::ffff', '2001:db8:1:3::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['fe80::1:2:3:4%eth0', 'fe80:0:0:0::/64'],
    ['10.0.0.1', null],
    ['::ffff:10.0.0.1', null],
    ['10.0.0.2', null],
    ['fd00::1', null],
    ['fd00::2', 'fd00:0:0:0::/64'],
    ['', ''],
  ])('%s: %s', (peer, client) => {
    expect(createConnectionClient(TRUSTED)(socketOf(peer))).toBe(client);
  });
});

describe('the client of a request', () => {
  test.each([
    ['192.0.2.7', '198.51.100.1', '192.0.2.7'],
    ['10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
    ['fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['10.0.0.1', '2001:DB8:1:2::1, ::ffff:10.0.0.1', '2001:db8:1:2::/64'],
    ['10.0.0.1', 'unknown', 'unknown'],
    ['10.0.0.1', '1:2:3::%25', '1:2:3:0::/64'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['2001:db8:1:2::5', undefined, '2001:db8:1:2::/64'],
  ])('from %s, forwarded for %s: %s', (peer, forwarded, client) => {
    expect(clientOf(peer, forwarded)).toBe(client);
  });
});
