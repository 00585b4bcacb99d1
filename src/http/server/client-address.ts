import { isIPv6, type Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/**
 * Returns the function that gives a request's client: the peer, or, behind trusted proxies, the last address in
 * X-Forwarded-For that is not one of theirs. What others write there is ignored.
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

/** The client of a connection, whatever is sent over it; null for a trusted proxy's, which has requests of many. */
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
 * Limits for each address count an IPv6 /64 as one: that is the smallest network that is assigned, and a machine may use any
 * of its addresses.
 */
function clientOf(address: string): string {
  const [withoutZone = ''] = address.split('%');
  if (!isIPv6(withoutZone)) return address;
  // A URL normalizes an address to its shortest form.
  const [before = '', behind = ''] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): readonly string[] => text.split(':').filter((group) => group !== '');
  const zeros = Array<string>(8 - groups(before).length - groups(behind).length).fill('0');
  return `${[...groups(before), ...zeros, ...groups(behind)].slice(0, 4).join(':')}::/64`;
}
