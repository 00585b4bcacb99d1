import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that gives updates as a Scan does: those after a migration and record time, a page at a time. */
export interface Network extends AsyncDisposable {
  readonly url: string;
  /** The requests in order: the `after` of each page, null for the first of all. */
  readonly asked: readonly (string | null)[];
  add(...lines: readonly string[]): void;
  /** What it calls itself from here on. */
  rename(name: string): void;
  /** Answers every request with this status until it is called with 200. */
  answer(status: number): void;
}

interface Item {
  readonly migration_id: number;
  readonly record_time: string;
}

export async function startNetwork(): Promise<Network> {
  const items: Item[] = [];
  const asked: (string | null)[] = [];
  let status = 200;
  let network = 'the only one';
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://any');
    const after = searchParams.get('after');
    response.writeHead(status, { 'content-type': 'application/json' });
    if (pathname === '/network') {
      response.end(JSON.stringify({ network }));
      return;
    }
    asked.push(after);
    const behind = items.filter((item) => after === null || isAfter(item, after));
    response.end(JSON.stringify({ transactions: behind.slice(0, Number(searchParams.get('page_size'))) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    add: (...lines) => void items.push(...lines.map((line) => JSON.parse(line) as Item)),
    rename(name) {
      network = name;
    },
    answer(next) {
      status = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function isAfter({ migration_id, record_time }: Item, after: string): boolean {
  const [migrationId, time = ''] = after.split(' ');
  return migration_id > Number(migrationId) || (migration_id === Number(migrationId) && record_time > time);
}
