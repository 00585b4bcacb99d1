import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface DemoStop {
  /** Ends this one too when the demo is stopped. */
  readonly watch: (service: ChildProcess) => void;
  /** Throws once the demo was stopped. */
  readonly check: () => void;
}

/** Runs a demo in a folder of its own, which is removed however it ends, and says why it did not come to its end. */
export async function runDemo(demonstrate: (folder: string, stopping: DemoStop) => Promise<void>): Promise<void> {
  // Ctrl-C reaches the program too, which then stops by itself; what is left to do here is to clean up.
  process.on('SIGINT', () => {});
  const stopping = stopAtSigterm();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  try {
    await demonstrate(folder, stopping);
  } catch (error) {
    console.error(`\n${stopping.failureText(error)}`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What a demo does at SIGTERM, which no other process gets: it ends its service, so that the step that uses it fails, and what
 * the demo has created is removed as after any failure.
 */
function stopAtSigterm(): DemoStop & { failureText(error: unknown): string } {
  const services: ChildProcess[] = [];
  let isAsked = false;
  process.on('SIGTERM', () => {
    isAsked = true;
    for (const service of services) service.kill('SIGTERM');
  });
  return {
    watch(service) {
      services.push(service);
      if (isAsked) service.kill('SIGTERM');
    },
    check() {
      if (isAsked) throw new Error('it was asked to stop');
    },
    failureText: (error) =>
      isAsked
        ? 'The demo was asked to stop.'
        : `The demo failed: ${error instanceof Error ? error.message : String(error)}`,
  };
}
