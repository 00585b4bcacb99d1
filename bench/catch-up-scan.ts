import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startFakeScan } from '../demo/local-scan.ts';

/** A Scan over a feed of one network, in front of which every page is kept as it was first answered: it costs little then. */
const [feed, dso] = process.argv.slice(2) as [string, string];
const scan = await startFakeScan({ dso, lines: readFileSync(feed, 'utf8').trimEnd().split('\n') });
const pages = new Map<string, Buffer>();

const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  const key = `${request.url} ${body}`;
  if (!pages.has(key)) {
    const asked = body === '' ? {} : { method: 'POST', body };
    const answer = await fetch(scan.url + request.url, asked);
    pages.set(key, gzipSync(Buffer.from(await answer.arrayBuffer())));
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  response.end(pages.get(key));
});
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
