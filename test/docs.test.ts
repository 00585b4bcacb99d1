import { generateKeyPairSync } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionName, SETTINGS, type SettingKey } from '../src/config/settings.ts';
import { loadConfig } from '../src/config.ts';
import { makeDataDirectory, openHoldings, post } from './support/http/holdings-service.ts';
import { listedCommands } from './support/program/command.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '..');
const page = (name: string): string => readFileSync(join(root, name), 'utf8');
const readme = page('README.md');
const rows = page('docs/operations.md')
  .split('\n')
  .filter((line) => line.startsWith('|'));
/** The table of settings; other tables may name one too, and so may what one means. */
const settings = rows.filter((row) => row.startsWith('| `--'));
const PICTURE_BYTES_MAX = 100_000;

describe('the pages', () => {
  const options = Object.keys(SETTINGS).map((key) => optionName(key as SettingKey));

  it.each(options)('explains the setting %s once', (option) => {
    expect(settings.filter((row) => new RegExp(`\`${option}[\` ]`).test(row.split(' | ')[0]!))).toHaveLength(1);
  });

  const defaults = Object.entries(SETTINGS).flatMap(([key, setting]) => {
    const said = setting.default === 'false' ? 'off' : (setting.default ?? setting.otherwise)?.split(';')[0];
    return said === undefined || said === '' ? [] : [[optionName(key as SettingKey), said] as const];
  });

  it.each(defaults)('names the default of %s: %s', (option, said) => {
    const row = settings.find((each) => new RegExp(`\`${option}[\` ]`).test(each.split(' | ')[0]!));
    expect(row!.split(' | ')[1]!.replaceAll('`', '').split(', ')).toContain(said);
  });

  const durations = Object.entries(SETTINGS).filter(([, { placeholder }]) => placeholder === 'D');

  it.each(durations.map(([key, { expected }]) => [optionName(key as SettingKey), expected]))(
    'names the bounds of the duration %s',
    (option, expected) => {
      const [, from, to] = /from (\S+) to (\w+)/.exec(expected)!;
      expect(settings.find((row) => row.includes(`\`${option} D\``))).toContain(`${from} to ${to}`);
    },
  );

  it('shows a request that works on the fixture as typed', async () => {
    const [, url, body] = /curl (\S+) -H 'Content-Type: application\/json' -d '([^']+)'/.exec(readme)!;
    const [, fixtureFile] = /--file (fixtures\/\S+)/.exec(readme)!;
    const dataDir = await makeDataDirectory([join(root, fixtureFile!)]);
    using service = openHoldings(dataDir);
    const response = await post(service.app, new URL(url!).pathname, body!);
    const { summaries } = (await response.json()) as { summaries: { total_coin_holdings: string }[] };
    expect(summaries.map((each) => each.total_coin_holdings)).toEqual(['379.7500000000']);
  });

  it('shows a configuration file that is complete and valid', () => {
    using folder = temporaryDirectory();
    const file = /^ {4}\{\n(?: {5,}.*\n)+ {4}\}\n/m.exec(page('docs/api.md'))![0];
    writeFileSync(folder.at('holdfast.json'), file);
    writeFileSync(folder.at('shared-secret'), 'a secret\n');
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(folder.at('issuer.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    const { config } = loadConfig({ options: { config: folder.at('holdfast.json') }, env: {} });
    expect(config.users.authServices).toHaveLength(3);
  });

  it('fit: the README on two screens, its links to pages that are there', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(80);
    const links = [...readme.matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThanOrEqual(4);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });

  it('link to headings that there are', () => {
    const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })];
    const anchors = (name: string): string[] =>
      [...page(name).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
        return heading!
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-');
      });
    const links = pages.flatMap((from) =>
      [...page(from).matchAll(/\]\(((?:\w+\/)?[\w-]+\.md)?#([^)]+)\)/g)].map(([, to, anchor]) => {
        return { from, to: to === undefined ? from : join(dirname(from), to), anchor: anchor! };
      }),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ to, anchor }) => !anchors(to).includes(anchor))).toEqual([]);
  });

  it('have small pictures only, and each of them is shown', () => {
    const pictures = globSync('docs/*.png', { cwd: root });
    expect(pictures.length).toBeGreaterThan(0);
    expect(pictures.filter((path) => statSync(join(root, path)).size > PICTURE_BYTES_MAX)).toEqual([]);
    const shown = readme + page('docs/operations.md');
    expect(pictures.filter((path) => !shown.includes(`${basename(path)})`))).toEqual([]);
  });

  it('lists every command', async () => {
    const listed = (await listedCommands()).map(({ name }) => name).filter((name) => !name.includes(' '));
    expect(listed).toContain('serve');
    expect(listed.filter((name) => !rows.some((row) => row.startsWith(`| \`holdfast ${name}`)))).toEqual([]);
  });
});
