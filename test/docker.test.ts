import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { settingsOf } from './support/program/settings.ts';
import { programEnv } from './support/program/soak.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');

describe('the health check of the container', () => {
  /** As Docker reads it: lines that end in a backslash continue, and a list is JSON. */
  const instruction = read('Dockerfile')
    .replaceAll('\\\n', '')
    .split('\n')
    .find((line) => line.startsWith('HEALTHCHECK'))!;
  const [command, ...args] = JSON.parse(instruction.slice(instruction.indexOf('['))) as string[];

  /** The very command, but that the service is not the first process here. Gives its exit code and what it printed. */
  async function check(pid: number, env: Readonly<Record<string, string>>): Promise<readonly [number, string]> {
    const own = args.map((arg) => arg.replaceAll('/proc/1/', `/proc/${pid}/`));
    const ended = promisify(execFile)(command!, own, { env: { ...programEnv(), ...env } });
    return ended.then(
      ({ stdout }) => [0, stdout] as const,
      ({ code }) => [code, ''] as const,
    );
  }

  it('asks at the port that was given, whichever way, and fails where nothing answers', async () => {
    using folder = temporaryDirectory();
    const server = createServer(({ url }, response) => response.writeHead(url === '/livez' ? 200 : 404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = String((server.address() as { port: number }).port);
    const file = folder.at('holdfast.json');
    writeFileSync(file, JSON.stringify({ port: Number(port) }));
    const given: readonly { args?: readonly string[]; env?: Readonly<Record<string, string>> }[] = [
      { args: ['--port', port] },
      { args: [`--port=${port}`] },
      { env: { HOLDFAST_PORT: port } },
      { args: [`--port=${port}`], env: { HOLDFAST_PORT: '1' } },
      { args: ['--config', file] },
      { env: { HOLDFAST_CONFIG: file } },
      // Kubernetes sets this for a Service of that name.
      { args: [`--config=${file}`], env: { HOLDFAST_PORT: 'tcp://10.0.0.1:80' } },
    ];
    for (const { args = [], env = {} } of given) {
      // A process with the command line of the service.
      const service = spawn('bash', ['-c', 'read; :', 'dist/main.js', 'serve', ...args]);
      expect({ args, env, check: await check(service.pid!, env) }).toEqual({ args, env, check: [0, ''] });
      service.kill();
    }
    await new Promise((resolve) => server.close(resolve));
    expect(await check(process.pid, { HOLDFAST_PORT: port })).toEqual([1, '']);
  });

  it('uses the default port unless another was given', async () => {
    const preload = `data:text/javascript,${encodeURIComponent('globalThis.fetch = (url) => { console.log(url); return Promise.resolve({ ok: true }); };')}`;
    const [, asked] = await check(process.pid, { NODE_OPTIONS: `--import ${preload}` });
    expect(asked).toBe(`http://127.0.0.1:${settingsOf([], {}).config.port}/livez\n`);
  });
});
