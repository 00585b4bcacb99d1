/** A request to the service. `Answer` is what a 200 has. */
export interface ApiRequest<Answer> {
  readonly url: string;
  /** Sent as JSON with POST; a GET has none. */
  readonly body?: object;
  /** Never set: it only ties a request to the type of its answer. */
  readonly answer?: Answer;
}

/** A request that was not answered with 200. */
export class AskError extends Error {
  /** Null: no answer came. */
  readonly status: number | null;

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AskError';
    this.status = status;
  }

  /** Whether the same request may be answered a little later. */
  get passes(): boolean {
    return this.status === null || this.status >= 500;
  }
}

export async function ask<Answer>(request: ApiRequest<Answer>, signal?: AbortSignal): Promise<Answer> {
  const response = await fetch(request.url, {
    ...(request.body && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request.body),
    }),
    signal: signal ?? null,
  }).catch((cause: unknown) => {
    throw new AskError('The service does not answer.', null, { cause });
  });
  const text = await response.text();
  if (!response.ok) throw new AskError(messageOf(text) ?? `${response.status} ${response.statusText}`, response.status);
  return JSON.parse(text, exactIntegers) as Answer;
}

function messageOf(text: string): string | null {
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return null;
  }
}

/** Integers above 2^53 stay exact as their digits, which the service accepts as well. */
function exactIntegers(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}

/** The same request for a shell. */
export function curlOf(request: ApiRequest<unknown>): string {
  const url = quoted(request.url);
  if (request.body === undefined) return `curl ${url}`;
  return `curl ${url} -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(request.body))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
