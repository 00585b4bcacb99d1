import { createRequire } from 'node:module';
import type * as KafkaJs from 'kafkajs';
import { decodeMessages, withoutAborted } from './record-batches.ts';

const require = createRequire(import.meta.url);

/** kafkajs, which is no longer maintained, with fixes for what it does wrong with data; no other file may load it. */
export const kafkajs = loadPatched();

function loadPatched(): typeof KafkaJs {
  // A module must be replaced before anything of kafkajs requires it.
  if (require.resolve('kafkajs') in require.cache)
    throw new Error('kafkajs was loaded by another file than src/feed/kafka/kafkajs.ts');
  replaceExports('kafkajs/src/consumer/filterAbortedMessages', withoutAborted);
  replaceExports('kafkajs/src/protocol/requests/fetch/v4/decodeMessages', decodeMessages);
  replaceExports('kafkajs/src/protocol/messageSet/decoder', refuseMessageSet);
  const loaded = require('kafkajs') as typeof KafkaJs;
  endWithLeader();
  stopIdleTimer();
  return loaded;
}

function replaceExports(name: string, exports: unknown): void {
  require(name);
  require.cache[require.resolve(name)]!.exports = exports;
}

/** What is replaced of kafkajs' consumer and of its request queue, and what that uses; not in its types. */
interface PatchedMethods {
  recoverFromFetch(error: Error & { readonly type?: string }): Promise<void>;
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/** What brokers before Kafka 0.11 answer with, whose checksums are not compared. */
async function refuseMessageSet(): Promise<never> {
  throw new Error('the broker is older than Kafka 0.11');
}

/**
 * kafkajs continues at the same offset when a partition is gone and back, or has another leader. The topic may have been
 * recreated or truncated meanwhile, and that offset another message's: so the consumer ends, and the next one compares.
 */
function endWithLeader(): void {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as { prototype: PatchedMethods };
  const { recoverFromFetch } = prototype;
  prototype.recoverFromFetch = async function (this: PatchedMethods, error): Promise<void> {
    // An offset out of range is not listed: what kafkajs does then is seen in the offset it fetches from.
    if (error.type !== undefined && error.name !== 'KafkaJSOffsetOutOfRange') {
      throw Object.assign(new Error(error.message, { cause: error }), { retriable: false });
    }
    return recoverFromFetch.call(this, error);
  };
}

/** An idle connection of kafkajs wakes each millisecond by a timer with a negative delay, of which Node warns on standard error. */
function stopIdleTimer(): void {
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: PatchedMethods };
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function (this: PatchedMethods): void {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
}
