import { generateKeyPairSync } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../src/config/load-config.ts';
import { makeDataDirectory, openHoldings, post } from './support/http/holdings-service.ts';
import { listedCommands } from './support/program/command.ts';
import { temporaryDirectory } from './support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '..');
const page = (name: string): string => readFileSync(join(root, name), 'utf8');
const readme = page('README.md');
const rows = page('docs/operations.md')
  .split('\n')
  .filter((line) => line.startsWith('|'));

describe('the pages', () => {
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

  it('lists every command', async () => {
    const listed = (await listedCommands()).map(({ name }) => name).filter((name) => !name.includes(' '));
    expect(listed).toContain('serve');
    expect(listed.filter((name) => !rows.some((row) => row.startsWith(`| \`holdfast ${name}`)))).toEqual([]);
  });
});
