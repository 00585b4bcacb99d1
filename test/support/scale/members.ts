import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createFigures, type DecoderFigures, type DecoderOptions, runDecoder } from '../../../src/scale/decoder.ts';
import { keepingLogger, type LogLine } from '../kafka/reading.ts';
import { KILLED_SESSION_MS, STAYING_SESSION_MS } from '../kafka/sessions.ts';
import { plainConnection } from '../kafka/topic.ts';
import { programEnv } from '../program/soak.ts';
import { TEN_MINUTES_US } from '../views/replayed.ts';
import { FLAT_DSO } from './ledgers.ts';

/** What a test says of a decoder; everything else is the same for all. */
export interface MemberTask {
  readonly address: string;
  readonly group?: string;
  readonly input: string;
  readonly flat: string;
  readonly create?: boolean;
  readonly rules?: Partial<DecoderOptions['rules']>;
  readonly drop?: readonly [partition: number, offset: number];
  readonly markIntervalMs?: number;
  readonly sessionTimeoutMs?: number;
}

export interface Member extends AsyncDisposable {
  readonly figures: DecoderFigures;
  readonly log: readonly LogLine[];
  /** Rejects with what ended it. */
  readonly ended: Promise<void>;
}

export const deadLettersOf = ({ flat }: MemberTask): string => `${flat}-dead-letters`;

/** A decoder in this process. */
export function startMember(task: MemberTask, lines: LogLine[] = []): Member {
  const logger = keepingLogger(lines);
  const figures = createFigures();
  const stop = new AbortController();
  const rules: DecoderOptions['rules'] = {
    dso: FLAT_DSO,
    periodUs: TEN_MINUTES_US,
    migrationId: 0,
    onBadUpdate: 'halt',
    recordTimeAheadMaxUs: 3_600_000_000,
    ...task.rules,
  };
  const options: DecoderOptions = {
    connection: plainConnection(task.address),
    group: task.group ?? `g-${task.flat}`,
    topics: { input: task.input, flat: task.flat, deadLetters: deadLettersOf(task) },
    create: task.create ?? true,
    rules,
    dropped: new Map(task.drop && [[task.drop[0], new Set([task.drop[1]])]]),
    markIntervalMs: task.markIntervalMs ?? 60_000,
    sessionTimeoutMs: task.sessionTimeoutMs ?? STAYING_SESSION_MS,
    figures,
    logger,
  };
  const ended = runDecoder(options, stop.signal);
  ended.catch(() => {});
  return {
    figures,
    log: logger.lines,
    ended,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended.catch(() => {});
    },
  };
}

export interface SpawnedMember extends AsyncDisposable {
  readonly process: ChildProcess;
  /** How many partitions it began to decode. */
  taken(): number;
}

/** A decoder in a process of its own, which goes with this one. */
export function spawnMember(task: MemberTask): SpawnedMember {
  const killed = JSON.stringify({ ...task, sessionTimeoutMs: KILLED_SESSION_MS });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'member.ts'), killed], {
    env: programEnv(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const dieToo = (): void => void child.kill('SIGKILL');
  process.once('exit', dieToo);
  let taken = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    taken += bytes.length;
  });
  return {
    process: child,
    taken: () => taken,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      process.off('exit', dieToo);
    },
  };
}
