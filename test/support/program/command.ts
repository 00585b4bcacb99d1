import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../../src/cli/command-line.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process and gives what it wrote. */
export function holdfast(...args: readonly string[]): Promise<Ended> {
  return run(args, collect());
}

/** The same with variables of the environment. */
export function holdfastWith(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> {
  return run(args, collect(), env);
}

/** The same on a terminal with lines of so many characters. */
export function holdfastOnTerminal(columns: number, ...args: readonly string[]): Promise<Ended> {
  const stdout = collect();
  return run(args, { ...stdout, stream: Object.assign(stdout.stream, { isTTY: true, columns }) });
}

async function run(args: readonly string[], stdout: ReturnType<typeof collect>, env = {}): Promise<Ended> {
  const stderr = collect();
  const code = await runCommandLine(args, {
    env,
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

/** A command as the help has it. */
export interface ListedCommand {
  readonly name: string;
  /** With its arguments: `dead-letters show <ID>`. */
  readonly usage: string;
}

/** Every command that the help lists, and those that the help of a group lists. */
export async function listedCommands(...group: readonly string[]): Promise<readonly ListedCommand[]> {
  const { stdout } = await holdfast(...group, '--help');
  const list = stdout.slice(0, stdout.indexOf('\nExample'));
  const found: ListedCommand[] = [];
  for (const [, name = '', args = ''] of list.matchAll(/^ {2}([a-z][a-z-]*)((?: [[<]\S+)*)/gm)) {
    if (name === 'help') continue;
    const words = [...group, name];
    found.push({ name: words.join(' '), usage: words.join(' ') + args.replace(' [options]', '') });
    // A group has commands of its own.
    if (args === '') found.push(...(await listedCommands(...words)));
  }
  return found;
}
