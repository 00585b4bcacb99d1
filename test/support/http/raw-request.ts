import { connect } from 'node:net';

/** An answer as it came over the connection. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A request as bytes; `text` is written byte for byte, so each of its characters is below 256. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Header lines in place of those that any client sends: Host, Connection and, with a body, its type and length. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly version?: string;
}

export function rawRequest({ method, target, headers, body, version = 'HTTP/1.1' }: RawRequest): string {
  const given = new Set(headers.map((line) => line.split(':', 1)[0]!.toLowerCase()));
  const usual = [
    ['Host', 'localhost'],
    ['Connection', 'close'],
    ...(body === '' ? [] : [['Content-Type', 'application/json']]),
    ...(body === '' || given.has('transfer-encoding') ? [] : [['Content-Length', String(body.length)]]),
  ] as const;
  const added = usual.filter(([name]) => !given.has(name!.toLowerCase())).map(([name, value]) => `${name}: ${value}`);
  // A header of the form "-Name" is left out.
  const lines = [...added, ...headers].filter((line) => !line.startsWith('-'));
  const left = new Set(headers.filter((line) => line.startsWith('-')).map((line) => line.slice(1).toLowerCase()));
  const sent = lines.filter((line) => !left.has(line.split(':', 1)[0]!.toLowerCase()));
  return `${[`${method} ${target} ${version}`.trimEnd(), ...sent].join('\r\n')}\r\n\r\n${body}`;
}

/** Sends bytes and returns all that comes back until the other side closes; the rest is then not sent. */
export function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (part) => {
      answer += part;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.write(bytes, 'latin1');
  });
}

/** The first answer in what came back, other than `100 Continue`. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
  if (end < 0 || status === undefined) throw new Error(`no HTTP answer: ${JSON.stringify(text.slice(0, 300))}`);
  if (status === '100') return parseAnswer(text.slice(end + 4));
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(status), headers, body: Buffer.from(text.slice(end + 4), 'latin1').toString() };
}
