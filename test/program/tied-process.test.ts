import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const MODULE = join(import.meta.dirname, '../support/program/tied-process.ts');

it('a tied process ends with ours, also when ours is killed', async () => {
  const script = `const { spawnTied } = await import(${JSON.stringify(MODULE)});
    console.log((await spawnTied(['sleep', '600'])).pid);
    await new Promise((resolve) => setTimeout(resolve, 600_000));`;
  const ours = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [pid] = (await once(ours.stdout, 'data')).map(Number) as [number];
  expect(process.kill(pid, 0)).toBe(true);
  ours.kill('SIGKILL');
  await expect.poll(() => isThere(pid)).toBe(false);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
