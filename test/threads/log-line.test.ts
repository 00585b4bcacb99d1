import { expect, it } from 'vitest';
import { forwardingLogger, type LogLine } from '../../src/threads/log-line.ts';

it('a line whose error holds what no thread can be sent arrives with what the error says', () => {
  const lines: LogLine[] = [];
  const log = forwardingLogger((line) => lines.push(structuredClone(line)));
  const answered = new Error('answers 502', { cause: new Response('no') });
  log.warn({ err: new Error('gives no token', { cause: answered }), retryInMs: 5 }, 'cannot read');
  expect(lines).toMatchObject([
    { level: 'warn', fields: { retryInMs: 5, err: { message: 'gives no token', cause: { message: 'answers 502' } } } },
  ]);
});
