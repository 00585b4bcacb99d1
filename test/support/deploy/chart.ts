import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { temporaryDirectory } from '../program/temporary-directory.ts';
import { HELM } from './tools.ts';

const CHART = join(import.meta.dirname, '../../../deploy/helm');

/** An object of Kubernetes, of which tests read what they check. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  // biome-ignore lint/suspicious/noExplicitAny: its schema is checked by kubernetes-validate
  readonly [key: string]: any;
}

export interface Pod {
  readonly labels: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: its schema is checked by kubernetes-validate
  readonly spec: any;
}

function helm(
  command: string,
  values: object,
  args: readonly string[],
): { readonly text: string; readonly said: string } {
  using folder = temporaryDirectory();
  writeFileSync(folder.at('values.json'), JSON.stringify(values));
  const all = [command, ...args, CHART, '--values', folder.at('values.json')];
  const { status, stdout, stderr } = spawnSync(HELM!, all, { encoding: 'utf8' });
  return { text: stdout, said: status === 0 ? '' : `${stdout}${stderr}`.trim() };
}

/** What is wrong with the chart under these values, as `helm lint` and `helm template` say it. */
export function faultOf(values: object): string {
  return helm('lint', values, ['--strict']).said || helm('template', values, ['x']).said;
}

/** The objects that a release `holdfast` has in its namespace, and their text. */
export function rendered(values: object): { readonly text: string; readonly objects: readonly Manifest[] } {
  const { text, said } = helm('template', values, ['holdfast', '--namespace', 'validator']);
  if (said !== '') throw new Error(said);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  return { text, objects: objects.filter((each) => each !== null) };
}

/** The pods that objects start, by the names of these. */
export function podsOf(objects: readonly Manifest[]): ReadonlyMap<string, Pod> {
  const templates = objects.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'StatefulSet') return [[metadata.name, spec.template] as const];
    return kind === 'CronJob' ? [[metadata.name, spec.jobTemplate.spec.template] as const] : [];
  });
  return new Map(templates.map(([name, { metadata, spec }]) => [name, { labels: metadata.labels, spec }]));
}
