import { spawn } from 'node:child_process';

/** A process that ends with ours, however ours ends. */
export interface TiedProcess {
  readonly pid: number;
  /** The last that it wrote. */
  said(): string;
  isAlive(): boolean;
  /** SIGKILL: what a power cut is to those that it served. */
  kill(): Promise<void>;
  /** SIGTERM. */
  end(): Promise<void>;
}

/** Two waits of a shell: for the end of the process, and for that of the pipe that only we hold, which kills the process. */
const SCRIPT =
  'exec 3<&0; "$@" </dev/null >&2 3<&- & p=$!; echo $p; { cat <&3; kill -9 $p; } >/dev/null 2>&1 & wait $p; kill $!';

export async function spawnTied(
  command: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<TiedProcess> {
  const shell = spawn('sh', ['-c', SCRIPT, 'sh', ...command], { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let said = '';
  shell.stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(-8000);
  });
  const exited = new Promise<void>((done) => shell.once('exit', () => done()));
  const pid = await new Promise<number>((done) => shell.stdout.once('data', (bytes: Buffer) => done(Number(bytes))));
  return {
    pid,
    said: () => said,
    isAlive: () => shell.exitCode === null && shell.signalCode === null,
    async kill() {
      shell.stdin.end();
      await exited;
    },
    async end() {
      process.kill(pid, 'SIGTERM');
      await exited;
    },
  };
}
