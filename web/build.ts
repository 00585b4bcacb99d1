import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { copyApiPage } from './api-page.ts';

const source = join(import.meta.dirname, 'src');
const root = join(import.meta.dirname, '..');
const target = join(root, 'dist/web');
/** In the order in which they apply: a narrow screen changes what is said before. */
const STYLES = [
  createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'),
  ...['base', 'frame', 'cards', 'charts', 'figures', 'tables', 'narrow'].map((name) =>
    join(source, 'styles', `${name}.css`),
  ),
];
/** What is compiled in; their licenses want to go with it. */
const PACKAGES = ['preact', 'uplot'];

/**
 * Builds the dashboard into dist/web: `index.html` and, in `assets/`, what it loads. The name of an asset has the hash of its
 * bytes, so that browsers may keep it for ever.
 */
export default async function buildWeb(): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(join(target, 'assets'), { recursive: true });
  const names = {
    'page.js': write('page.js', await bundledScript()),
    'page.css': write('page.css', STYLES.map((path) => readFileSync(path, 'utf8')).join('\n')),
    'icon.svg': write('icon.svg', readFileSync(join(source, 'icon.svg'), 'utf8')),
  };
  const licenses = PACKAGES.map(
    (name) => `${name}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')}`,
  );
  writeFileSync(join(target, 'licenses.txt'), licenses.join('\n'));
  let page = readFileSync(join(source, 'index.html'), 'utf8');
  for (const [name, hashed] of Object.entries(names)) page = page.replace(`"${name}"`, `"assets/${hashed}"`);
  writeFileSync(join(target, 'index.html'), page);
  copyApiPage();
}

async function bundledScript(): Promise<string> {
  await using bundle = await rolldown({
    input: join(source, 'main.tsx'),
    platform: 'browser',
    transform: { target: 'es2023' },
    // A part that is not installed would otherwise be left for the browser to find.
    onLog(_level, log) {
      throw new Error(`${log.message}; sh scripts/setup.sh installs what is missing`);
    },
  });
  const { output } = await bundle.generate({ format: 'es', minify: true });
  return output[0].code;
}

/** Gives the name under which it was written. */
function write(name: string, text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const [stem, ending] = name.split('.');
  const hashed = `${stem}-${hash}.${ending}`;
  writeFileSync(join(target, 'assets', hashed), text);
  return hashed;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildWeb();
