import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ANYWHERE, MAY_IMPORT } from './support/project/rooms.ts';
import { ROOT, readSources } from './support/project/source-files.ts';

const page = readFileSync(join(ROOT, 'docs/code.md'), 'utf8');
const linked = new Map(
  readSources('src/**/*.ts').map(({ path, ...file }) => [path, [...file.imports, ...file.threads]]),
);

interface Stop {
  readonly path: string;
  /** The files in brackets, which bring it together with the stop before. */
  readonly joints: readonly string[];
  readonly isBack: boolean;
}

/** Files that several folders have under one name. */
const IN_EACH = ['operations.ts', 'kind.ts'];
const NAME = /`([\w/-]+\.ts)`/;
const WALKS = ['One update', 'One summary, there and back', 'One line of /status', 'One dead letter'];

function sectionOf(title: string): string {
  return page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
}

/** What each row of a section's table is about. */
function rowsOf(title: string): string[][] {
  const rows = sectionOf(title)
    .split('\n')
    .filter((row) => row.startsWith('| `'));
  return rows.map((row) => [...row.split(' | ')[0]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

function stopsOf(title: string): Stop[] {
  return [...sectionOf(title).matchAll(/^\d+\. `([^`]+)`(?: \((back in )?([^)]+)\))?/gm)].map(
    ([, path, back, joints]) => ({
      path: `src/${path}`,
      joints: (joints?.split(', ') ?? []).map((joint) => `src/${NAME.exec(joint)![1]}`),
      isBack: back !== undefined,
    }),
  );
}

/** Whether one of two files imports the other, or starts it as a thread. */
function areLinked(a: string, b: string): boolean {
  return linked.get(a)!.includes(b) || linked.get(b)!.includes(a);
}

/** Pairs of files on the way that have nothing to do with each other. */
function gapsOf(stops: readonly Stop[]): string[] {
  const passed = new Set<string>();
  return stops.flatMap(({ path, joints, isBack }, i) => {
    const before = isBack || i === 0 ? [] : [stops[i - 1]!.path];
    const chain = [...before, ...joints, path];
    const unknown = isBack && !passed.has(joints[0]!) ? [`${joints[0]} is not an earlier file`] : [];
    for (const file of chain) passed.add(file);
    const gaps = chain.slice(1).filter((file, at) => !areLinked(chain[at]!, file));
    return [...unknown, ...gaps.map((file) => `${path}: nothing links ${file} to the file before it`)];
  });
}

describe('docs/code.md', () => {
  it.each(WALKS)('is true: %s passes its stops', (title) => {
    const stops = stopsOf(title);
    expect(stops.length).toBeGreaterThanOrEqual(8);
    expect(stops.flatMap(({ path, joints }) => [path, ...joints]).filter((path) => !linked.has(path))).toEqual([]);
    expect(stops.filter(({ joints }) => joints.length > 3)).toEqual([]);
    expect(gapsOf(stops)).toEqual([]);
  });

  it('names files that exist, from src or from the root', () => {
    const named = [...page.matchAll(/`([\w/.-]+\.(?:ts|json|ndjson|md|sql|py|yml))`/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(60);
    const exists = (name: string): boolean => ['', 'src'].some((folder) => existsSync(join(ROOT, folder, name)));
    expect(named.filter((name) => !IN_EACH.includes(name) && !exists(name))).toEqual([]);
  });

  it('lists the folders of src from the top down: what one may import is never above it', () => {
    const rowOf = new Map(
      rowsOf('The folders of src').flatMap((names, at) => names.map((name) => [name, at] as const)),
    );
    expect(Object.keys(MAY_IMPORT).filter((room) => !rowOf.has(room))).toEqual([]);
    const upward = Object.entries(MAY_IMPORT).flatMap(([room, targets]) =>
      [...targets, ...ANYWHERE]
        .filter((target) => rowOf.get(target)! < rowOf.get(room)!)
        .map((to) => `${room} -> ${to}`),
    );
    expect(upward).toEqual([]);
  });

  it('lists folders that there are', () => {
    const inSrc = rowsOf('The folders of src').flat();
    expect(inSrc.filter((name) => !/\/$/.test(name) && !existsSync(join(ROOT, `src/${name}.ts`)))).toEqual([]);
    const folders = [
      ...inSrc.filter((name) => name.endsWith('/')).map((name) => `src/${name}`),
      ...rowsOf('The other folders').flat(),
    ];
    expect(folders.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  it('lists every folder of test/support', () => {
    const listed = rowsOf('The tests').flat();
    const folders = readdirSync(join(ROOT, 'test/support')).map((name) => `${name}/`);
    expect(listed.filter((name) => name.endsWith('/')).toSorted()).toEqual(folders.toSorted());
  });
});
