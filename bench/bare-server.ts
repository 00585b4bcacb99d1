import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/** The baselines of an answer over HTTP: a route that says hello, and one that reads JSON and answers as much as we do. */
const answer = JSON.parse(process.argv[2]!);
const app = new Hono();
app.get('/hello', (c) => c.text('hello'));
app.get('/answer', (c) => c.json(answer));
app.post('/summary', async (c) => {
  const question: unknown = await c.req.json();
  return c.json(question === null ? {} : answer);
});
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
