import type { ChildProcess } from 'node:child_process';

export interface DemoStop {
  /** Ends this one too when the demo is stopped. */
  readonly watch: (service: ChildProcess) => void;
  /** Throws once the demo was stopped. */
  readonly check: () => void;
  /** What is said of a demo that did not come to its end. */
  readonly failureText: (error: unknown) => string;
}

/**
 * What a demo does at SIGTERM, which no other process gets: it ends its service, so that the step that uses it fails, and what
 * the demo has created is removed as after any failure.
 */
export function stopAtSigterm(): DemoStop {
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
