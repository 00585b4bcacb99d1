import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { programEnv } from '../../test/support/program/soak.ts';

/** A part of the soak in a process of its own, so that making the load does not slow what is measured. */
export interface Part<Report> extends AsyncDisposable {
  /** What happened since the last report. */
  report(): Promise<Report>;
  /** Ends what it does; what happened since the last report. */
  finish(): Promise<Report>;
}

type Ask = 'report' | 'finish';

export function startPart<Report>(name: string, settings: object): Part<Report> {
  const file = join(import.meta.dirname, `${name}.ts`);
  const child = fork(file, [JSON.stringify(settings)], { env: programEnv() });
  const ended = once(child, 'exit');
  const ask = (what: Ask): Promise<Report> => Promise.race([answer<Report>(child, what), failure(name, ended)]);
  return {
    report: () => ask('report'),
    finish: () => ask('finish'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function answer<Report>(child: ChildProcess, what: Ask): Promise<Report> {
  const reply = once(child, 'message');
  child.send(what);
  const [report] = await reply;
  return report as Report;
}

async function failure(name: string, ended: Promise<unknown[]>): Promise<never> {
  const [code, signal] = await ended;
  throw new Error(`the ${name} of the soak ended by itself (${code ?? signal})`);
}

/** In the process of a part: its settings. */
export function partSettings<Settings>(): Settings {
  return JSON.parse(process.argv[2]!) as Settings;
}

/** In the process of a part: answers the process that started it, and ends with it. */
export function answerReports(part: { report: () => object; finish: () => Promise<void> }): void {
  process.on('message', async (what: Ask) => {
    if (what === 'finish') await part.finish();
    process.send!(part.report());
  });
  process.on('disconnect', () => process.exit());
}
