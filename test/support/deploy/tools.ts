import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'holdfast');
/** Folders of the cache as scripts/setup-deploy.sh names them, by what is in them. */
const BROUGHT = new Map(
  [
    ...readFileSync(join(ROOT, 'scripts/setup-deploy.sh'), 'utf8').matchAll(
      /\b(helm|compose-go|kubernetes-validate)-\d[\d.]*\d/g,
    ),
  ].map(([folder, name]) => [name!, join(CACHE, folder)]),
);

export function inPath(name: string): string | null {
  const paths = process.env.PATH!.split(delimiter).map((folder) => join(folder, name));
  return paths.find((path) => existsSync(path)) ?? null;
}

function brought(name: string, file: string): string | null {
  const path = join(BROUGHT.get(name)!, file);
  return existsSync(path) ? path : null;
}

/** Each is null where it is not there: `npm run test:deploy` brings it. */
export const HELM = brought('helm', 'helm') ?? inPath('helm');
export const COMPOSE_GO = brought('compose-go', 'cmd');
/** A folder for PYTHONPATH. */
export const KUBERNETES_VALIDATE = brought('kubernetes-validate', '.');
