import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../../src/cli/command-line.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process and gives what it wrote. */
export async function holdfast(...args: readonly string[]): Promise<Ended> {
  const [stdout, stderr] = [collect(), collect()];
  const code = await runCommandLine(args, {
    env: {},
    stdout: stdout.stream,
    stderr: stderr.stream,
    stopSignal: () => new AbortController().signal,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(): { stream: PassThrough; text: () => string } {
  const stream = new PassThrough();
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  return { stream, text: () => Buffer.concat(parts).toString() };
}
