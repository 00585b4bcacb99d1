import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
export const RULES = join(root, 'deploy/holdfast.rules.yml');

/** A program of Debian's package: of the system, or as scripts/setup-prometheus.sh brought it. */
export function programPath(name: 'promtool'): string {
  const folders = [...process.env.PATH!.split(delimiter), join(root, 'node_modules/.cache/prometheus/usr/bin')];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not there: install Debian's package prometheus`);
  return found;
}
