import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdingsApiTypes } from '../client/generate.ts';
import { linesWith, ROOT, readSources, type SourceFile } from './support/project/source-files.ts';

/** Of these libraries some errors have no codes: their words are read in one file each. */
const READS_WORDS = [
  'src/json/parse-error.ts',
  'src/feed/file/decompress.ts',
  'src/feed/kafka/kafka-errors.ts',
  'src/machine-errors.ts',
];

const LINES_MAX = 400;

const sources = readSources('src/**/*.ts');
const dashboard = readSources('web/src/**/*.{ts,tsx}');
const GENERATED = 'client/src/holdings-api.ts';
const client = readSources('client/src/*.ts').filter(({ path }) => path !== GENERATED);
/** This file names what it looks for. */
const everything = [
  ...sources,
  ...client,
  ...readSources('{web,test,bench,demo,fixtures,scripts}/**/*.{ts,tsx}'),
].filter(({ path }) => path !== 'test/structure.test.ts');

/** `src/views/read/contract-page.ts` -> `views`, `src/main.ts` -> `main` */
function folderOf(path: string): string {
  return path.split('/')[1]!.replace(/\.tsx?$/, '');
}

function outside(...folders: readonly string[]): SourceFile[] {
  return sources.filter(({ path }) => !folders.some((folder) => path.startsWith(folder)));
}

function linesOf({ text }: SourceFile): number {
  return text.split('\n').length - 1;
}

/** The first path found that leads from a node back to it. */
function circleFrom(start: string, edges: ReadonlyMap<string, Iterable<string>>): string[] | null {
  const seen = new Set<string>();
  const walk = (node: string, trail: readonly string[]): string[] | null => {
    for (const next of edges.get(node) ?? []) {
      if (next === start) return [...trail, next];
      if (seen.has(next)) continue;
      seen.add(next);
      const circle = walk(next, [...trail, next]);
      if (circle !== null) return circle;
    }
    return null;
  };
  return walk(start, [start]);
}

function circles(edges: ReadonlyMap<string, Iterable<string>>): string[][] {
  return [...edges.keys()].map((start) => circleFrom(start, edges)).filter((circle) => circle !== null);
}

describe('the structure of src', () => {
  it('has files that do not import each other in circles', () => {
    const files = [...sources, ...dashboard, ...client];
    expect(circles(new Map(files.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  it('has folders that import down the list in docs/code.md, and never in circles', () => {
    const edges = new Map<string, Set<string>>();
    for (const { path, imports, threads } of sources) {
      const targets = edges.get(folderOf(path)) ?? new Set();
      for (const target of [...imports, ...threads])
        if (folderOf(target) !== folderOf(path)) targets.add(folderOf(target));
      edges.set(folderOf(path), targets);
    }
    const page = readFileSync(join(ROOT, 'docs/code.md'), 'utf8').split('| folder |', 1)[0]!;
    const order = [...page.matchAll(/^\| `(\w+)\/?` \|/gm)].map(([, folder]) => folder!);
    const folders = [...edges.keys()].filter((name) => existsSync(join(ROOT, 'src', name)));
    expect(order.toSorted()).toEqual(['main', ...folders].toSorted());
    for (const [at, folder] of order.entries())
      expect(
        order.slice(0, at).filter((above) => edges.get(folder)!.has(above)),
        `what ${folder} imports`,
      ).toEqual([]);
    expect(circles(edges)).toEqual([]);
  });
});

describe('every file', () => {
  it.each(['src', 'web', 'test', 'fixtures', 'bench', 'demo', 'scripts', 'client/src'])(
    'of %s has at most 400 lines',
    (folder) => {
      const files = readSources(`${folder}/**/*.{ts,tsx,css}`);
      expect(files.length).toBeGreaterThan(0);
      const long = files.filter((file) => linesOf(file) > LINES_MAX && file.path !== GENERATED);
      expect(long.map((file) => `${file.path}: ${linesOf(file)}`)).toEqual([]);
    },
  );
});

describe('the code of src', () => {
  it('has SQL only in views, users and the store in PostgreSQL', () => {
    const sql = /\b(SELECT\s|INSERT INTO|INSERT OR|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA)|'better-sqlite3'/;
    expect(linesWith(outside('src/views/', 'src/users/', 'src/scale/'), sql)).toEqual([]);
  });

  it('is not taken by the dashboard and the client, and takes nothing of them', () => {
    const taken = [...dashboard, ...client].flatMap(({ imports }) => imports);
    expect(taken.length).toBeGreaterThan(20);
    expect(taken.filter((target) => !/^(web|client)\/src\//.test(target))).toEqual([]);
    expect(client.flatMap(({ imports }) => imports).filter((target) => target.startsWith('web/'))).toEqual([]);
    expect(sources.flatMap(({ imports }) => imports).filter((path) => /^(web|client)\//.test(path))).toEqual([]);
  });

  it('reads what is wrong with the machine from one table', () => {
    const codes = /\bSQLITE_|\bE(NOSPC|DQUOT|FBIG|IO|MFILE|NFILE|ACCES|PERM|ROFS)\b/;
    expect(linesWith(outside('src/machine-errors.ts'), codes)).toEqual([]);
  });

  it('distinguishes errors by codes, and by words only where a library has no codes', () => {
    const call =
      /\b(message|reason|expected)\)?\??\.(includes|startsWith|endsWith|match|matchAll|search|replace|replaceAll)\(/;
    const pattern = /\.(test|exec)\((\w+\.)*(message|reason|expected)\)/;
    const equal = /(?<!typeof )\b(message|reason|expected) [!=]== ['"`A-Z]/;
    for (const words of [call, pattern, equal]) expect(linesWith(outside(...READS_WORDS), words)).toEqual([]);
  });

  it('reads the environment and the arguments in main.ts only', () => {
    expect(linesWith(outside('src/main.ts'), /\bprocess\.(env|argv)\b/)).toEqual([]);
  });

  it('works out the amounts of answers in holdings only', () => {
    const others = sources.filter(({ path }) => /^src\/(http|cli|service)/.test(path));
    expect(others.filter(({ imports }) => imports.includes('src/ledger/amount.ts')).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('lets no float touch an amount', () => {
    expect(linesWith(outside('src/ledger/amount.ts'), /\b(parseFloat|toFixed|toPrecision)\b/)).toEqual([]);
    expect(linesWith(sources, /\bNumber\([^)]*(amount|rate|fee|units)/i)).toEqual([]);
  });
});

describe('the client', () => {
  it('has types made from the committed document', async () => {
    const committed = readFileSync(join(ROOT, GENERATED), 'utf8');
    expect(committed, 'run scripts/write-schemas.ts').toBe(await holdingsApiTypes());
  });
});

describe('all code', () => {
  it('leaves nothing open and skips no test', () => {
    const open = new RegExp(`\\b(${['TO', 'FIX'].join('DO|')}ME|X{3})\\b`);
    expect(linesWith(everything, open, 'everything')).toEqual([]);
    expect(linesWith(everything, /\b(it|describe|test)\.(only|skip|todo|runIf|skipIf)\(/)).toEqual([]);
  });

  it('asserts no time that something took', () => {
    expect(linesWith(everything, /\bexpect\(.*\b(performance|Date)\.now\(/)).toEqual([]);
  });

  it('works out expected answers without src', () => {
    const independent = everything.filter(({ path }) =>
      /^(fixtures|test\/support\/ledger\/(oracle|random|history|wire))/.test(path),
    );
    expect(independent.length).toBeGreaterThan(5);
    expect(independent.flatMap(({ imports }) => imports.filter((path) => path.startsWith('src/')))).toEqual([]);
  });
});
