import { createRequire } from 'node:module';
import type * as KafkaJs from 'kafkajs';
import { decodeMessages, withoutAborted } from './record-batches.ts';

const require = createRequire(import.meta.url);

/** kafkajs, which is no longer maintained, with fixes for what it lacks and does wrong; no other file may load it. */
export const kafkajs = loadPatched();

function loadPatched(): typeof KafkaJs {
  // A module must be replaced before anything of kafkajs requires it.
  if (require.resolve('kafkajs') in require.cache)
    throw new Error('kafkajs was loaded by another file than src/feed/kafka/kafkajs.ts');
  replaceExports('kafkajs/src/consumer/filterAbortedMessages', withoutAborted);
  replaceExports('kafkajs/src/protocol/requests/fetch/v4/decodeMessages', decodeMessages);
  replaceExports('kafkajs/src/protocol/messageSet/decoder', refuseMessageSet);
  const loaded = require('kafkajs') as typeof KafkaJs;
  stopIdleTimers();
  demandVersions();
  endWithLeader();
  askForNoTopics();
  return loaded;
}

function replaceExports(name: string, exports: unknown): void {
  require(name);
  require.cache[require.resolve(name)]!.exports = exports;
}

/** What brokers before Kafka 0.11 answer with, whose checksums are not compared. */
async function refuseMessageSet(): Promise<never> {
  throw new Error('the broker is older than Kafka 0.11');
}

/** The parts of kafkajs' request queue that its idle timer depends on; not in its types. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/**
 * kafkajs re-arms a timer on every connection with a negative delay, so that an idle client wakes a thousand times a
 * second. While no request is pending the timer is not needed: each new request and each answer runs the same check.
 */
function stopIdleTimers(): void {
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
}

/** The parts of kafkajs' brokers that show whether one may be used; not in its types. */
interface LibraryBroker {
  readonly versions: object | null;
  isConnected(): boolean;
}

/**
 * kafkajs takes a broker as connected once the socket is. Of one that hangs before it has sent its API versions no request
 * can be made: kafkajs then crashes on that, and not with the time-out, after which it would try again.
 */
function demandVersions(): void {
  const { prototype } = require('kafkajs/src/broker') as { prototype: LibraryBroker };
  const { isConnected } = prototype;
  prototype.isConnected = function (this: LibraryBroker): boolean {
    return this.versions !== null && isConnected.call(this);
  };
}

/** The part of kafkajs' consumer that handles a failed fetch; not in its types. */
interface ConsumerGroup {
  recoverFromFetch(error: Error & { readonly type?: string }): Promise<void>;
}

/**
 * kafkajs continues at the same offset when a partition is gone and back, or has another leader. The topic may have been
 * recreated or truncated meanwhile, and that offset another message's: so the consumer ends, and the next one compares.
 */
function endWithLeader(): void {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
  const { recoverFromFetch } = prototype;
  prototype.recoverFromFetch = async function (this: ConsumerGroup, error): Promise<void> {
    // An offset out of range is not listed: what kafkajs does then is seen in the offset it fetches from.
    if (error.type !== undefined && error.name !== 'KafkaJSOffsetOutOfRange') {
      throw Object.assign(new Error(error.message, { cause: error }), { retriable: false });
    }
    return recoverFromFetch.call(this, error);
  };
}

/** A request of kafkajs before it is sent; not in its types. */
interface LibraryRequest {
  readonly request: { readonly encode: () => Promise<unknown> };
  readonly response: unknown;
}

/** kafkajs' functions that make requests for metadata, by the version of the request. */
interface MetadataRequests {
  protocol(of: { version: number }): (request: { topics: readonly string[] }) => LibraryRequest;
}

interface LibraryEncoder {
  writeArray(array: readonly string[]): LibraryEncoder;
  writeBoolean(value: boolean): LibraryEncoder;
}

/** The first version in which an empty list of topics means none, not all. */
const NO_TOPICS_VERSION = 4;

/**
 * For requests that concern no topic (the cluster's controller, its id) kafkajs asks for all topics, and fails where any
 * partition of any of them has no leader. So these requests are sent with an empty list.
 */
function askForNoTopics(): void {
  const requests = require('kafkajs/src/protocol/requests/metadata') as MetadataRequests;
  const Encoder = require('kafkajs/src/protocol/encoder') as new () => LibraryEncoder;
  const { protocol } = requests;
  requests.protocol = ({ version }) => {
    const make = protocol({ version });
    return (request) => {
      const made = make(request);
      if (request.topics.length > 0 || version < NO_TOPICS_VERSION) return made;
      const encode = async (): Promise<unknown> => new Encoder().writeArray([]).writeBoolean(false);
      return { ...made, request: { ...made.request, encode } };
    };
  };
}
