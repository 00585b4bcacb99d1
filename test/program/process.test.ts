import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { startService } from '../support/http/service.ts';
import { MAIN, runProgram, startProgram } from '../support/program/program.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

it('serve serves the page, the documents and the metrics, and refuses a port that is taken in one line', async () => {
  await using first = await startService(['--data', folder.at('first')]);
  const url = String((await first.program.logged('listening')).url);
  for (const path of ['/docs', '/openapi/holdings.json', '/openapi/ledger.json', '/metrics', '/status', '/v2/version'])
    expect((await fetch(url + path)).status, path).toBe(200);
  const port = new URL(url).port;
  const second = await runProgram(['serve', '--data', folder.at('second'), '--port', port, '--log-level', 'silent']);
  expect(second).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^holdfast: cannot listen on --host 127\.0\.0\.1 --port \d+: .*EADDRINUSE.*\n$/),
  });
});

it('serve reads its settings from the environment', async () => {
  const env = { HOLDFAST_DATA: folder.at('environment'), HOLDFAST_PORT: '0', HOLDFAST_SERVICE_PORT: '80' };
  await using program = startProgram(['serve'], { env });
  const { url } = await program.logged('listening');
  expect((await fetch(`${String(url)}/readyz`)).status).toBe(503);
  program.kill('SIGINT');
  expect(await program.ended).toMatchObject({ code: 0, signal: null });
});

it('replay reads standard input', () => {
  const input = readFileSync(fixture('story.scan.ndjson'));
  const args = [MAIN, 'replay', '--data', folder.at('piped'), '-'];
  const { status, stdout } = spawnSync(process.execPath, args, { input, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^applied 14 updates, /)]);
});

it('a process whose reader goes away ends without any message', () => {
  const script = 'set -o pipefail; "$0" "$1" --help 2>said | true; echo $? >code';
  spawnSync('bash', ['-c', script, process.execPath, MAIN], { cwd: folder.path });
  expect([readFileSync(folder.at('code'), 'utf8'), readFileSync(folder.at('said'), 'utf8')]).toEqual(['0\n', '']);
});
