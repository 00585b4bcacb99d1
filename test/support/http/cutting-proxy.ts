import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that passes bytes on, and cuts connections in the middle of them. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  /** Each connection is cut after so many bytes of answers. */
  cutAfter(bytes: number): void;
}

export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let bytesMax = Infinity;
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    const cut = (): void => {
      for (const socket of [client, service]) socket.destroy();
    };
    let bytes = 0;
    client.pipe(service);
    service.on('data', (part) => {
      const left = bytesMax - bytes;
      bytes += part.length;
      if (part.length < left) client.write(part);
      else client.end(part.subarray(0, left), cut);
    });
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        cut();
        sockets.delete(socket);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAfter(bytes) {
      bytesMax = bytes;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
