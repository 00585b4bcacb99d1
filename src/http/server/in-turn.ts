import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that a connection may send ahead of the answer before them; no usual client sends any. */
const WAITING_MAX = 100;

/**
 * Handles the requests of one connection one after the other. Node hands over all that arrive at once; their answers would all
 * be made and held, however large, while the client takes none of them. A connection with too many of them waiting is cut.
 */
export function inTurn(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // A response has its connection from the start, or once the one before it has been sent.
    if (response.socket !== null) return listener(request, response);
    const { socket } = request;
    const ahead = (waiting.get(socket) ?? 0) + 1;
    if (ahead > WAITING_MAX) return void socket.destroy();
    waiting.set(socket, ahead);
    response.once('socket', () => {
      waiting.set(socket, waiting.get(socket)! - 1);
      listener(request, response);
    });
  };
}
