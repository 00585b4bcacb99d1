import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Paths from the project's folder, of our own files only. */
  readonly imports: readonly string[];
  /** Files that are run as threads; these may import what they say to each other. */
  readonly threads: readonly string[];
}

export function readSources(pattern: string): SourceFile[] {
  return globSync(pattern, { cwd: ROOT }).map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const found = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1]!);
    const resolved = (target: string): string => relative(ROOT, join(ROOT, dirname(path), target));
    return {
      path,
      text,
      imports: found(/\b(?:from|import|import\()\s*'(\.[^']+)'/g).map(resolved),
      threads: found(/\bthreadFile\('([^']+)'/g).map((name) => resolved(`${name}.ts`)),
    };
  });
}

/** Lines that match; comments may mention anything, unless they are requested. */
export function linesWith(files: readonly SourceFile[], pattern: RegExp, of: 'code' | 'everything' = 'code'): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').map((line, at) => ({ line: line.trim(), at: at + 1 }));
    const read = of === 'everything' ? lines : lines.filter(({ line }) => !/^(\/?\*|\/\/)/.test(line));
    return read.filter(({ line }) => pattern.test(line)).map(({ line, at }) => `${path}:${at}: ${line}`);
  });
}
