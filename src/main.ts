#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

/**
 * By how much a heap may grow before the next collection. V8's own factor, up to four, lets each thread use several times what
 * it needs; this one costs a few percent of a replay's time and saves a fifth of its memory.
 */
const HEAP_GROWTH = '--heap-growing-percent=50';
/** better-sqlite3 segfaults on older versions, so nothing that imports it is imported before this is checked. */
const NODE_MAJOR_MIN = 24;

/** A reader of our output that goes away (`holdfast snapshots | head`) is no error: the rest is not written. */
function endOnWriteFailure(stream: NodeJS.EventEmitter): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`holdfast: the output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
}

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(name));
  return stop.signal;
}

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `holdfast: needs Node.js ${NODE_MAJOR_MIN} or later, and this is ${process.version}.\n` +
      `Install Node.js ${NODE_MAJOR_MIN}, or run it with the one that npm brings:\n` +
      `  npx --package node@${NODE_MAJOR_MIN} --package holdfast holdfast\n`,
  );
  process.exitCode = 1;
} else {
  setFlagsFromString(HEAP_GROWTH);
  const { openStandardError } = await import('./cli/terminal.ts');
  const stderr = openStandardError(process.stderr);
  endOnWriteFailure(process.stdout);
  endOnWriteFailure(stderr);
  const { runCommandLine } = await import('./cli/command-line.ts');
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    env: process.env,
    stdout: process.stdout,
    stderr,
    stopSignal,
  });
}
