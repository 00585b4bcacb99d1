import { HoldfastError } from './error.ts';
import type { Schemas } from './operations.ts';
import { parseJson, type Requests } from './requests.ts';
import { createRetry, type RetryOptions } from './retry.ts';

export interface StreamOptions extends RetryOptions {
  /** At most 1000. */
  readonly owners?: readonly string[];
  /** What is sent of the owners: `snapshots` unless given. */
  readonly events?: 'snapshots' | 'movements' | 'movements,snapshots';
  /** Of which the changes and movements are; the coin unless given. */
  readonly instrument?: { readonly instrument_admin: string; readonly instrument_id: string } | undefined;
  /** The id of the last event that was had: all after it comes. */
  readonly lastEventId?: string | undefined;
  /** A connection on which nothing comes for so long is replaced. The service sends a comment every 15 s: 45,000 unless given. */
  readonly silenceMaxMs?: number;
}

interface EventData {
  readonly status: Schemas['StreamStatus'];
  readonly owner: Schemas['OwnerEvent'];
  readonly movement: Schemas['MovementEvent'];
  readonly snapshot: Schemas['SnapshotEvent'];
  /** The newest snapshot, where the service cannot send all after the last id. */
  readonly reset: Schemas['SnapshotEvent'];
}

export type StreamEvent = {
  readonly [Name in keyof EventData]: {
    readonly event: Name;
    readonly id: Name extends 'status' | 'owner' ? null : string;
    readonly data: EventData[Name];
  };
}[keyof EventData];

const SILENCE_MAX_MS = 45_000;

/**
 * The events of the service, over any number of connections: each continues behind the last event of the one before. Ends with
 * the signal; throws a HoldfastError that is not temporary, such as one about a wrong parameter.
 */
export async function* followStream(
  { open, streamRequest }: Requests,
  options: StreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { owners = [], events, instrument, signal, silenceMaxMs = SILENCE_MAX_MS } = options;
  const retry = createRetry(options);
  let { lastEventId } = options;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const end = (): void => connection.abort();
    signal?.addEventListener('abort', end);
    const within = <Step>(step: Promise<Step>): Promise<Step> => {
      const silent = (): HoldfastError => new HoldfastError(`Nothing came from Holdfast for ${silenceMaxMs} ms.`);
      const timer = setTimeout(() => connection.abort(silent()), silenceMaxMs);
      return step.finally(() => clearTimeout(timer));
    };
    let isLive = false;
    try {
      const request = streamRequest(owners, { events, ...instrument, last_event_id: lastEventId });
      const response = await within(open(request, { signal: connection.signal }));
      for await (const event of eventsOf(response.body!.getReader(), within)) {
        if (signal?.aborted) return;
        if (!isLive) retry.succeeded();
        isLive = true;
        lastEventId = event.id ?? lastEventId;
        yield event;
      }
      throw new HoldfastError('The stream of Holdfast ended.');
    } catch (error) {
      await retry.failed(connection.signal.aborted ? connection.signal.reason : error);
    } finally {
      connection.abort();
      signal?.removeEventListener('abort', end);
    }
  }
}

async function* eventsOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  within: <Step>(step: Promise<Step>) => Promise<Step>,
): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder();
  for (let rest = ''; ; ) {
    const { value, done } = await within(reader.read()).catch((cause: unknown) => {
      throw new HoldfastError('The stream of Holdfast broke off.', { cause });
    });
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = blocks.pop()!;
    // A comment shows that the connection is alive.
    for (const block of blocks) if (!block.startsWith(':')) yield parseEvent(block);
  }
}

/** An event as the service writes it: each field once, on a line. */
function parseEvent(block: string): StreamEvent {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const data = parseJson(fields.get('data') ?? block);
  return { event: fields.get('event'), id: fields.get('id') ?? null, data } as StreamEvent;
}
