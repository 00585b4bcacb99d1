import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that a connection may send before the previous one is answered; usual clients send none. */
const WAITING_MAX = 100;

/**
 * Handles the requests of one connection one after the other. Node emits all that arrive at once, and all of their answers,
 * however large, would be in memory while the client reads none. A connection with too many waiting requests is closed.
 */
export function inTurn(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // A response gets its connection at once, or after the response before it has been sent.
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
