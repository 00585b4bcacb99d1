import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { copyApiPage } from '../../../web/api-page.ts';

/** Imports of src/ are resolved to the build, so that the threads it starts are JavaScript as well. */
export const BUILT = { find: /^((?:\.\.?\/)+)src\/(.*)\.ts$/, replacement: '$1dist/$2.js' };
/** The same for the tests of web/, whose own src/ is one folder nearer. */
export const BUILT_FOR_WEB = { ...BUILT, find: /^((?:\.\.\/){2,})src\/(.*)\.ts$/ };

const root = join(import.meta.dirname, '../../..');

/**
 * Builds the program before the tests. Node strips the types of TypeScript by WebAssembly, in every thread that is started, and
 * V8 now and then aborts a process in which several threads load and leave WebAssembly ("Check failed: jit_page.has_value()",
 * nodejs/node issue 64500). So whatever starts and ends many threads runs what is built.
 */
export default function build(): void {
  const tsc = join(root, 'node_modules/.bin/tsc');
  // Its types are a check of `npm test`.
  const args = [tsc, '-p', 'tsconfig.build.json', '--noCheck'];
  const { status, error } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    throw new Error(`the program cannot be built: ${error?.message ?? 'see the messages of tsc above'}`);
  copyApiPage();
}
