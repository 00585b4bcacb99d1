import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface StreamEvent {
  readonly name: string;
  readonly id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client of server-sent events that keeps all that it was sent. */
export type EventStream = Awaited<ReturnType<typeof openStream>>;

export interface StreamOptions {
  readonly owners?: readonly string[];
  readonly events?: string;
  /** Sends a POST with this body; the owners and events are not sent then. */
  readonly body?: unknown;
  readonly lastEventId?: string;
  /** The same as a parameter. */
  readonly lastEventIdParameter?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An address of this machine that the client connects from. */
  readonly localAddress?: string;
}

const WAIT_MAX_MS = 60_000;

/** Opens a stream of a service, or of a proxy before it; resolves when its head is there. */
export async function openStream(url: string, options: StreamOptions = {}) {
  const { owners = [], events, body, lastEventId, lastEventIdParameter, headers = {}, localAddress } = options;
  const query = new URLSearchParams(owners.map((owner): [string, string] => ['owner', owner]));
  if (events !== undefined) query.set('events', events);
  if (lastEventIdParameter !== undefined) query.set('last_event_id', lastEventIdParameter);
  const resuming = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const target = new URL(`/holdfast/v1/stream?${body === undefined ? query : ''}`, url);
  const sent = request(target, {
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...resuming },
    ...(localAddress && { localAddress }),
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return follow(sent, response);
}

function follow(sent: ClientRequest, response: IncomingMessage) {
  const events: StreamEvent[] = [];
  const watching = new Set<() => void>();
  const ended = Promise.withResolvers<boolean>();
  let text = '';
  let rest = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) if (!block.startsWith(':')) events.push(parseEvent(block));
    for (const look of watching) look();
  });
  response.on('error', () => {});
  sent.on('error', () => {});
  response.on('close', () => ended.resolve(response.complete));
  return {
    status: response.statusCode!,
    headers: response.headers,
    events,
    /** The body as it came. */
    get text(): string {
      return text;
    },
    /** Those of some name, oldest first. */
    named: (...names: readonly string[]) => events.filter(({ name }) => names.includes(name)),
    /** Resolves once what was sent is as wanted; rejects where the stream ends before that. */
    until: (wanted: () => boolean): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!wanted()) return;
          watching.delete(look);
          resolve();
        };
        watching.add(look);
        const late = (): void => reject(new Error(`not so in ${WAIT_MAX_MS} ms:\n${text.slice(-2_000)}`));
        setTimeout(late, WAIT_MAX_MS).unref();
        void ended.promise.then(() => reject(new Error(`the stream ended before that:\n${text.slice(-2_000)}`)));
        look();
      }),
    /** Resolves with whether the body came to its end. */
    ended: ended.promise,
    /** Reads nothing more from its socket, until it is resumed. */
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    [Symbol.dispose]: () => void sent.destroy(),
  };
}

/** An event as the standard writes it, with no more than this program uses: every line is a field. */
function parseEvent(block: string): StreamEvent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const [, name, value] = /^(event|id|data): (.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a line of an event: ${JSON.stringify(line)}`);
      return [name, value!];
    }),
  );
  const data = JSON.parse(fields.get('data')!) as Record<string, unknown>;
  return { name: fields.get('event')!, id: fields.get('id') ?? null, data };
}

interface SentEvents {
  readonly events: readonly Pick<StreamEvent, 'name' | 'data'>[];
}

/** What happened in a stream, in short: `status reading`, `owner alice 00:10`, `movement alice u1 +2`, `snapshot 0 00:20 skipped true`. */
export function shortEvents(stream: SentEvents): string[] {
  return stream.events.map(({ name, data }) => {
    const time = String(data.record_time).slice(11, -1).replace(/:00$/, '');
    if (name === 'status') return `status ${data.phase}`;
    const owner = String(data.party_id).split('::')[0];
    if (name === 'owner') return `owner ${owner} ${time}`;
    if (name === 'movement') return `movement ${owner} ${data.update_id} ${Number(data.change_total)}`;
    return `${name} ${data.migration_id} ${time}${'skipped' in data ? ` skipped ${data.skipped}` : ''}`;
  });
}

export function withoutStatus(stream: SentEvents): string[] {
  return shortEvents(stream).filter((each) => !each.startsWith('status'));
}
