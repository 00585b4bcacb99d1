import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { optionName, SETTINGS, type SettingKey } from '../src/config/settings.ts';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const rows = readme.split('\n').filter((line) => line.startsWith('|'));

/** The commands that `holdfast --help` lists. */
async function commands(): Promise<string[]> {
  let help = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      help += chunk;
      done();
    },
  });
  await runCommandLine(['--help'], { env: {}, stdout, stderr: stdout, stopSignal: () => new AbortController().signal });
  return [...help.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name]) => name!).filter((name) => name !== 'help');
}

describe('the README', () => {
  const options = Object.keys(SETTINGS).map((key) => optionName(key as SettingKey));

  it.each(options)('explains the setting %s once', (option) => {
    expect(rows.filter((row) => new RegExp(`\`${option}[\` ]`).test(row))).toHaveLength(1);
  });

  const durations = Object.entries(SETTINGS).filter(([, { placeholder }]) => placeholder === 'D');

  it.each(durations.map(([key, { expected }]) => [optionName(key as SettingKey), expected]))(
    'names the bounds of the duration %s',
    (option, expected) => {
      const [, from, to] = /from (\S+) to (\w+)/.exec(expected)!;
      expect(rows.find((row) => row.includes(`\`${option} D\``))).toContain(`${from} to ${to}`);
    },
  );

  it('lists every command', async () => {
    const listed = await commands();
    expect(listed).toContain('serve');
    expect(listed.filter((name) => !rows.some((row) => row.startsWith(`| \`holdfast ${name}`)))).toEqual([]);
  });
});
