import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const rules = readFileSync(join(root, 'docs/rules.md'), 'utf8').toLowerCase();

interface Line {
  readonly path: string;
  readonly at: number;
  readonly text: string;
}

/** Lines of src except those that import: comments, messages and SQL. */
const lines: readonly Line[] = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .map((text, i) => ({ path, at: i + 1, text }))
    .filter(({ text }) => !/^import |\bfrom '|import\('/.test(text)),
);

/** What the pattern's group finds in a line, where `isThere` says no to it. */
function missing(pattern: RegExp, isThere: (found: string, line: Line) => boolean): string[] {
  return lines.flatMap((line) =>
    [...line.text.matchAll(pattern)]
      .map(([, found]) => found!)
      .filter((found) => !isThere(found, line))
      .map((found) => `${line.path}:${line.at}: ${found}`),
  );
}

describe('what comments and messages of src refer to', () => {
  it('is a file of the project, from its root, from src or next to the file', () => {
    const places = (found: string, { path }: Line): string[] => [found, join('src', found), join(dirname(path), found)];
    const isThere = (found: string, line: Line): boolean =>
      places(found, line).some((place) => existsSync(join(root, place)));
    expect(missing(/([\w./-]+\.(?:ts|md))\b/g, isThere)).toEqual([]);
  });

  it('is a rule or a section of docs/rules.md', () => {
    expect(missing(/docs\/rules\.md, (rule \d+)/g, (rule) => rules.includes(`**${rule}:`))).toEqual([]);
    const isSection = (name: string): boolean => rules.includes(`\n## ${name}\n`) || rules.includes(`\n**${name}`);
    expect(missing(/docs\/rules\.md, (?!rule \d)([a-z ]+)/g, isSection)).toEqual([]);
  });
});
