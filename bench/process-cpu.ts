import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** What a process and those that it started have taken of the processors, in milliseconds, those that are over included. */
export function cpuMsOf(pid: number): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(name) ?? []);
  const own = stats.find((stat) => stat.pid === pid);
  if (own === undefined) throw new Error(`there is no process ${pid}`);
  const children = stats.filter(({ parent }) => parent === pid);
  return (own.ticks + own.endedTicks + children.reduce((sum, { ticks }) => sum + ticks, 0)) * TICK_MS;
}

export function parentOf(pid: number): number {
  return statOf(String(pid))!.parent;
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
  /** Of children that are over. */
  readonly endedTicks: number;
}

/** Null for one that has just ended. */
function statOf(pid: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number];
    return { pid: Number(pid), parent: fields[1]!, ticks: user + system, endedTicks: endedUser + endedSystem };
  } catch {
    return null;
  }
}
