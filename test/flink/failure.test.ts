import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAsk } from '../../src/flink/ask.ts';
import { redacted, rootCause } from '../../src/flink/failure.ts';

describe('what Flink says of a failure', () => {
  it.each([
    [
      'org.apache.flink.table.gateway.api.utils.SqlGatewayException: failed\n\tat a.B.c(B.java:1)\nCaused by: java.lang.RuntimeException: x\n\t... 7 more\nCaused by: org.postgresql.util.PSQLException: FATAL: password authentication failed for user "engine"\n  Detail: none\n\tat d.E.f(E.java:2)\n\t... 5 more\n',
      'FATAL: password authentication failed for user "engine" Detail: none',
    ],
    ['org.apache.flink.runtime.rest.NotFoundException: Job 00 not found\n\tat a.B.c(B.java:1)', 'Job 00 not found'],
    ['java.lang.NullPointerException\n\tat a.B.c(B.java:1)', 'java.lang.NullPointerException'],
    ['<html>Bad Gateway</html>', '<html>Bad Gateway</html>'],
  ])('is its last cause, in one line', (stack, cause) => {
    expect(rootCause(stack)).toBe(cause);
  });

  it('is short', () => {
    expect(rootCause(`a.b.C: ${'x'.repeat(10_000)}`).length).toBeLessThan(600);
  });

  it('has no secret, as it is or as SQL has it', () => {
    const said = `'password' = 'it''s secret', it's secret, it's\n secret`.replace('\n', '');
    expect(redacted(said, ["it's secret"])).toBe("'password' = '***', ***, ***");
    expect(redacted('line one line two', ['line one\nline two'])).toBe('***');
    // One that is part of ordinary words cannot be told from them.
    expect(redacted('all is as it was', ['as'])).toBe('all is as it was');
  });

  it('is told by the answer of a server without the secrets in it', async () => {
    await using server = createServer((_, response) => {
      response.statusCode = 500;
      response.end(
        JSON.stringify({ errors: ['x', "a.B: x\n\tat a\nCaused by: a.C: 'password'='hush''hush'\n\tat b"] }),
      );
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    const ask = createAsk(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, 'Flink', ["hush'hush"]);
    await expect(ask(z.unknown(), '/v1/x')).rejects.toThrow(/^Flink answers 500: 'password'='\*\*\*'$/);
  });
});
