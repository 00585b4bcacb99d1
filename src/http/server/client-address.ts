import { isIPv6, type Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/**
 * Returns the function that says whom a request comes from: the peer, or, behind trusted proxies, the last address in X-Forwarded-For
 * that none of them wrote about itself. What others write there is not believed.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
): (c: Context<{ Bindings: HttpBindings }>) => string {
  const trusted = new Set(trustedProxies.map(plainAddress));
  return (c) => {
    const peer = plainAddress(c.env.incoming.socket.remoteAddress ?? '');
    if (!trusted.has(peer)) return clientOf(peer);
    const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((part) => plainAddress(part.trim()));
    return clientOf(forwarded.findLast((address) => address !== '' && !trusted.has(address)) ?? peer);
  };
}

/** The same of a connection, whatever is sent over it; null for a trusted proxy's, which carries requests of many. */
export function createConnectionClient(trustedProxies: readonly string[]): (socket: Socket) => string | null {
  const trusted = new Set(trustedProxies.map(plainAddress));
  return ({ remoteAddress = '' }) => {
    const peer = plainAddress(remoteAddress);
    return trusted.has(peer) ? null : clientOf(peer);
  };
}

/** An IPv4 address that came over an IPv6 socket is the same client. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/**
 * Whatever is counted for each address takes the /64 that an IPv6 address lies in for one: that is the least that a network is
 * given, and a machine may use any of its addresses.
 */
function clientOf(address: string): string {
  const [withoutZone = ''] = address.split('%');
  if (!isIPv6(withoutZone)) return address;
  // A URL writes an address in the one shortest form.
  const [before = '', behind = ''] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): readonly string[] => text.split(':').filter((group) => group !== '');
  const zeros = Array<string>(8 - groups(before).length - groups(behind).length).fill('0');
  return `${[...groups(before), ...zeros, ...groups(behind)].slice(0, 4).join(':')}::/64`;
}
