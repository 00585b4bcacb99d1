import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
export const RULES = join(root, 'deploy/holdfast.rules.yml');

const UNPACKED = ['usr/bin', 'usr/sbin'].map((folder) => join(root, 'node_modules/.cache/debian', folder));
const PACKAGES = { promtool: 'prometheus', caddy: 'caddy', nginx: 'nginx' } as const;

/** A program of a package of Debian: of the system, or as scripts/setup-servers.sh brought it. */
export function programPath(name: keyof typeof PACKAGES): string {
  const folders = [...process.env.PATH!.split(delimiter), '/usr/sbin', ...UNPACKED];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not there: install Debian's package ${PACKAGES[name]}`);
  return found;
}
