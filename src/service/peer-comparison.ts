import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { HoldingsStore } from '../holdings/facts.ts';
import { gauges } from '../http/prometheus.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import { compareMigration, otherReplica, ownReplica, type Replica } from './compare-digests.ts';

/** How often it looks for snapshots that are not compared yet. */
const COMPARE_MS = 5_000;

/** Another Holdfast, whose digests must equal those of this one. */
interface Peer {
  readonly url: string;
  /** The newest snapshot compared, by migration. */
  readonly upTo: Map<number, Micros>;
  comparedAtMs: number;
  /** Stays until the process ends: a sealed snapshot never changes. */
  difference: string | null;
}

/** Compares each peer by itself: a slow one delays no other, and one that does not answer does not differ. A sentence for each that does. */
export function startComparison(
  urls: readonly string[],
  { store, logger, registry }: { store: HoldingsStore; logger: Logger; registry: Registry },
): AsyncDisposable & { differences(): readonly string[] } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const peers = urls.map((url): Peer => ({ url, upTo: new Map(), comparedAtMs: 0, difference: null }));

  async function follow(peer: Peer): Promise<void> {
    const { url } = peer;
    const replicas = { own: ownReplica(store), other: otherReplica(new URL(url), { stop: signal }) };
    for (let isAnswering = true; !signal.aborted && peer.difference === null; ) {
      try {
        await compareNew(peer, replicas, await store.facts({ kind: 'newest snapshots' }));
        isAnswering = true;
      } catch (err) {
        if (isAnswering && !signal.aborted) logger.warn({ peer: url, err }, 'a peer cannot be compared; trying again');
        isAnswering = false;
      }
      await sleep(COMPARE_MS, undefined, { signal }).catch(() => {});
    }
    if (peer.difference !== null) logger.error({ peer: url }, peer.difference);
  }

  const ended = Promise.all(peers.map(follow));
  const ofPeers = (figure: (peer: Peer) => number) => () =>
    Object.fromEntries(peers.map((peer) => [peer.url, figure(peer)]));
  gauges(registry, {
    holdfast_compare_different: {
      help: 'Whether a peer of --compare-with has other digests, another period or another DSO.',
      label: 'peer',
      read: ofPeers(({ difference }) => (difference === null ? 0 : 1)),
    },
    holdfast_compare_timestamp_seconds: {
      help: 'When snapshots were last compared with a peer of --compare-with; 0: not yet.',
      label: 'peer',
      read: ofPeers(({ comparedAtMs }) => comparedAtMs / 1_000),
    },
  });
  return {
    differences: () => peers.flatMap(({ difference }) => difference ?? []),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await ended;
    },
  };
}

/** Compares what is sealed since the last comparison. */
async function compareNew(
  peer: Peer,
  replicas: { readonly own: Replica; readonly other: Replica },
  migrations: readonly { readonly migrationId: number }[],
): Promise<void> {
  for (const { migrationId } of migrations) {
    const after = peer.upTo.get(migrationId) ?? null;
    const compared = await compareMigration(replicas, migrationId, { from: null, to: null, after });
    if (compared === null) continue;
    if (typeof compared !== 'string') {
      peer.upTo.set(migrationId, compared.to);
      peer.comparedAtMs = Date.now();
      if (compared.firstDifferent === null) continue;
    }
    const what =
      typeof compared === 'string' ? compared : `different digests, first at ${formatTime(compared.firstDifferent!)}`;
    peer.difference ??= `${peer.url}: migration ${migrationId} has ${what}`;
  }
}
