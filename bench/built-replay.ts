import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../dist/main.js');
/**
 * Run in the measured process before anything else: the last line of its standard output is then its largest resident
 * memory, KiB.
 */
const TELL_MEMORY = `data:text/javascript,process.on('exit',()=>console.log(process.resourceUsage().maxRSS))`;

/** The largest resident memory of `holdfast replay` as it is installed: compiled, and writing in a thread of its own. */
export function builtReplayMb(feed: string): number {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'holdfast-bench-'));
  const args = ['--import', TELL_MEMORY, MAIN, 'replay', feed, '--data', join(folder.path, 'data')];
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return Number(output.trim().split('\n').at(-1)) / 1024;
}
