import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Builds the program before the tests, which all run what is built: see `alias` in vitest.config.ts. Node strips the types of
 * TypeScript by WebAssembly, in every thread that is started, and V8 now and then aborts a process in which several threads
 * load and leave WebAssembly ("Check failed: jit_page.has_value()", nodejs/node issue 64500).
 */
export default function build(): void {
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { status, error } = spawnSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    throw new Error(`the program cannot be built: ${error?.message ?? 'see the messages of tsc above'}`);
}
