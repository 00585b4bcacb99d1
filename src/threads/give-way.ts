import { access } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';

const NICENESS = 10;

/**
 * Requests take precedence over this thread's work where there are fewer cores than threads. On Linux a niceness is one thread's, and
 * the threads that it starts inherit it; elsewhere it would apply to the whole process.
 */
export async function giveWay(): Promise<void> {
  if (process.platform !== 'linux' || getPriority() >= NICENESS) return;
  // The thread pool that libuv shares among all of our threads would inherit it too, so it is started first.
  await access('/');
  try {
    setPriority(NICENESS);
  } catch {
    // Where the system forbids this, the thread runs at the usual priority.
  }
}
