import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../program/free-ports.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';

const root = join(import.meta.dirname, '../../..');
export const RULES = join(root, 'deploy/holdfast.rules.yml');

/** A program of Debian's package: of the system, or as scripts/setup-prometheus.sh brought it. */
export function programPath(name: 'prometheus' | 'promtool'): string {
  const folders = [...process.env.PATH!.split(delimiter), join(root, 'node_modules/.cache/prometheus/usr/bin')];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not there: install Debian's package prometheus`);
  return found;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** A rule, as Prometheus has understood it. */
export interface Rule {
  readonly name: string;
  readonly query: string;
  /** Seconds. */
  readonly duration: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Prometheus extends AsyncDisposable {
  /** Throws what Prometheus says of a query that it cannot answer. */
  query(expression: string): Promise<readonly Sample[]>;
  /** The rules of a file. */
  rules(file: string): Promise<readonly Rule[]>;
}

const CONFIG = (rules: readonly string[], targets: readonly string[]): object => ({
  global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
  rule_files: rules,
  scrape_configs: [{ job_name: 'holdfast', static_configs: [{ targets }] }],
});

/** Starts a Prometheus that scrapes the targets every second. */
export async function startPrometheus(
  folder: TemporaryDirectory,
  { rules, targets }: { rules: readonly string[]; targets: readonly string[] },
): Promise<Prometheus> {
  // JSON is YAML.
  writeFileSync(folder.at('prometheus.yml'), JSON.stringify(CONFIG(rules, targets)));
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const args = [`--config.file=${folder.at('prometheus.yml')}`, `--storage.tsdb.path=${folder.at('tsdb')}`];
  const child = spawn(programPath('prometheus'), [...args, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const closed = once(child, 'close');
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${log}`);
    await sleep(50);
  }

  async function get<Data>(path: string): Promise<Data> {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: Data; error?: string };
    if (answer.error !== undefined) throw new Error(`${decodeURIComponent(path)}: ${answer.error}`);
    return answer.data;
  }

  return {
    query: async (expression) =>
      (await get<{ result: readonly Sample[] }>(`query?query=${encodeURIComponent(expression)}`)).result,
    async rules(file) {
      const { groups } = await get<{ groups: readonly { file: string; rules: readonly Rule[] }[] }>('rules');
      return groups.filter((group) => group.file === file).flatMap((group) => group.rules);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}
