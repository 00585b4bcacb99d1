import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** What a process or a thread has taken of the processors (Linux), by its folder of /proc. */
interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMs: number;
  /** Of children that are over. */
  readonly endedCpuMs: number;
}

/** Null for one that has just ended, and without /proc. */
function statOf(folder: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${folder}/stat`, 'utf8');
    // What follows the name, which may have spaces and parentheses itself: the state is the third field of proc(5).
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number];
    const [cpuMs, endedCpuMs] = [(user + system) * TICK_MS, (endedUser + endedSystem) * TICK_MS];
    return { pid: Number.parseInt(text, 10), parent: fields[1]!, cpuMs, endedCpuMs };
  } catch {
    return null;
  }
}

/** Of a process without its children, or of its first thread; not a number without /proc. */
export function ownCpuMs(pid: number, part: 'process' | 'first thread' = 'process'): number {
  return statOf(part === 'process' ? `${pid}` : `${pid}/task/${pid}`)?.cpuMs ?? Number.NaN;
}

/** Of a process and those that it started, those that are over included. */
export function cpuMsOf(pid: number): number {
  const own = statOf(`${pid}`);
  if (own === null) throw new Error(`there is no process ${pid}`);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(name) ?? [])
    .filter(({ parent }) => parent === pid);
  return own.cpuMs + own.endedCpuMs + children.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

export function parentOf(pid: number): number {
  return statOf(`${pid}`)!.parent;
}
