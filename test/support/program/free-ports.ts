import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that Linux gives to connections and to who listens at port 0, which may be anybody's before they are used. */
const FIRST = 10_000;
/** For each of the processes that run tests side by side. */
const OF_PROCESS = 4_000;

const given = new Set<number>();

/** Ports to be listened at soon, which no other test takes meanwhile. */
export async function freePorts(count: number): Promise<number[]> {
  const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % 5) * OF_PROCESS;
  const ports: number[] = [];
  while (ports.length < count) {
    const port = first + randomInt(OF_PROCESS);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    ports.push(port);
  }
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = once(server.listen(port, '127.0.0.1'), 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return false;
    },
  );
  if (!(await isListening)) return false;
  server.close();
  await once(server, 'close');
  return true;
}
