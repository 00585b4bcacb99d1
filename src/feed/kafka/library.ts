import { createRequire } from 'node:module';
import type * as KafkaJs from 'kafkajs';
import { withoutAborted } from './aborted.ts';
import { registerCodecs } from './codecs.ts';

const require = createRequire(import.meta.url);

/** kafkajs, which is no longer maintained, with what it lacks and without what it does wrong; the only one to be used. */
export const kafkajs = loadMended();

function loadMended(): typeof KafkaJs {
  // What is replaced must be so before anything of kafkajs requires it.
  if (require.resolve('kafkajs') in require.cache)
    throw new Error('kafkajs was loaded by another file than src/feed/kafka/library.ts');
  replaceExports('kafkajs/src/consumer/filterAbortedMessages', withoutAborted);
  const loaded = require('kafkajs') as typeof KafkaJs;
  registerCodecs(loaded);
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

/** What of kafkajs' request queue the idle timer depends on; it is not in the types. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
}

const CHECK_PENDING_INTERVAL_MS = 10;

/**
 * kafkajs re-arms a timer on every connection with a negative delay, so that an idle client wakes a thousand times a
 * second. Without something pending there is nothing to check: a request that comes, or an answer, checks by itself.
 */
function stopIdleTimers(): void {
  const queue = require('kafkajs/src/network/requestQueue') as { prototype: object };
  Object.assign(queue.prototype, {
    scheduleCheckPendingRequests(this: RequestQueue): void {
      if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
      const throttledMs = this.throttledUntil - Date.now();
      this.throttleCheckTimeoutId = setTimeout(
        () => {
          this.throttleCheckTimeoutId = null;
          this.checkPendingRequests();
        },
        throttledMs > 0 ? throttledMs : CHECK_PENDING_INTERVAL_MS,
      );
    },
  });
}

/** What of kafkajs' brokers tells whether one may be asked; it is not in the types. */
interface LibraryBroker {
  readonly versions: object | null;
  isConnected(): boolean;
}

/**
 * kafkajs takes a broker for connected as soon as the connection stands. One that hangs and never said which versions it
 * speaks could not be asked anything: kafkajs then dies of that, and not of the time-out, after which it would try again.
 */
function demandVersions(): void {
  const { prototype } = require('kafkajs/src/broker') as { prototype: LibraryBroker };
  const { isConnected } = prototype;
  prototype.isConnected = function (this: LibraryBroker): boolean {
    return this.versions !== null && isConnected.call(this);
  };
}

/** What of kafkajs' consumer decides what to do about a fetch that failed; it is not in the types. */
interface ConsumerGroup {
  recoverFromFetch(error: Error & { readonly type?: string }): Promise<void>;
}

/**
 * kafkajs continues at the same offset when a partition is gone and back, or has another leader. The topic may have been made
 * again or cut meanwhile, and then that offset is another message's: the consumer ends, for the next one to compare.
 */
function endWithLeader(): void {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
  const { recoverFromFetch } = prototype;
  prototype.recoverFromFetch = async function (this: ConsumerGroup, error): Promise<void> {
    // An offset out of range has a type too; what kafkajs then does shows in the offset it fetches from.
    if (error.type !== undefined && error.name !== 'KafkaJSOffsetOutOfRange') {
      throw Object.assign(new Error(error.message, { cause: error }), { retriable: false });
    }
    return recoverFromFetch.call(this, error);
  };
}

/** A request of kafkajs, before it is sent; not in its types. */
interface LibraryRequest {
  readonly request: { readonly encode: () => Promise<unknown> };
  readonly response: unknown;
}

/** What of kafkajs makes requests for metadata, by the version of the request. */
interface MetadataRequests {
  protocol(of: { version: number }): (asked: { topics: readonly string[] }) => LibraryRequest;
}

interface LibraryEncoder {
  writeArray(array: readonly string[]): LibraryEncoder;
  writeBoolean(value: boolean): LibraryEncoder;
}

/** The first version in which no topics are none, and not all. */
const NO_TOPICS_VERSION = 4;

/**
 * Where it has no topic in mind (who controls the cluster, its id) kafkajs asks for all of them, and then fails for one
 * partition without a leader of any topic: whoever uses another topic is stopped by it. It gets the brokers alone.
 */
function askForNoTopics(): void {
  const requests = require('kafkajs/src/protocol/requests/metadata') as MetadataRequests;
  const Encoder = require('kafkajs/src/protocol/encoder') as new () => LibraryEncoder;
  const { protocol } = requests;
  requests.protocol = ({ version }) => {
    const make = protocol({ version });
    return (asked) => {
      const made = make(asked);
      if (asked.topics.length > 0 || version < NO_TOPICS_VERSION) return made;
      const encode = async (): Promise<unknown> => new Encoder().writeArray([]).writeBoolean(false);
      return { ...made, request: { ...made.request, encode } };
    };
  };
}
