import { type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** What never reaches the app, and what Node would answer without any message, is answered in JSON like all else. */
export function answerUnserved(server: Server, { headerBytesMax }: { headerBytesMax: number }): void {
  const faults: Record<string, readonly [status: number, message: string]> = {
    HPE_HEADER_OVERFLOW: [431, `headers larger than ${headerBytesMax} bytes, or too many of them`],
    ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, message] = faults[error.code ?? ''] ?? [400, 'malformed HTTP request'];
    endSocket(socket, status, message);
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    endSocket(socket, 405, 'CONNECT is not allowed here: this is no proxy');
  });
  server.on('checkExpectation', (request, response) => {
    const given = JSON.stringify(request.headers.expect?.slice(0, 100));
    endResponse(response, 417, `Expect: given ${given}, expected 100-continue`);
  });
}

/** A `.` or `..` segment in every form that a URL resolves; to a URL a backslash is a slash, and `#` ends the path. */
const DOT_SEGMENT = /^[^?]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;
const SHOWN_CHARS_MAX = 100;

/**
 * Refuses requests without a Host, which those of HTTP/1.1 have; the health checks of some proxies speak HTTP/1.0 and have none.
 * And a target with `.` or `..` segments: the path that was written and the one it resolves to differ, and a proxy that
 * guards one of them must not be bypassed by the other. An encoded slash is part of a segment, and so are dots next to it.
 */
export function refuseBadHeads(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { headers, httpVersion, url = '' } = request;
    if (headers.host === undefined && httpVersion !== '1.0')
      return endResponse(response, 400, 'Host: given nothing, expected the name of this service');
    if (!DOT_SEGMENT.test(url)) return listener(request, response);
    const given = JSON.stringify(url.slice(0, SHOWN_CHARS_MAX));
    const expected = 'no segment "." or ".." in its path, percent-encoded or not';
    return endResponse(response, 400, `request target: given ${given}, expected ${expected}`);
  };
}

function endResponse(response: ServerResponse, status: number, message: string): void {
  const text = JSON.stringify({ error: message });
  const length = Buffer.byteLength(text);
  // The connection ends after it, because the request's body is not read.
  response.writeHead(status, { Connection: 'close', 'Content-Type': 'application/json', 'Content-Length': length });
  response.end(text);
}

function endSocket(socket: Duplex, status: number, message: string): void {
  const text = JSON.stringify({ error: message });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
