import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const source = join(import.meta.dirname, 'src');
const target = join(import.meta.dirname, '../dist/api-page');
const SWAGGER = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'LICENSE', 'NOTICE'];
/** Its header is that of the dashboard. */
const STYLES = ['styles/base.css', 'styles/frame.css', 'api-page/page.css'];

/** Puts the API page and what it loads into dist/api-page: Swagger UI is needed to build it, and not to serve it. */
export function copyApiPage(): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const name of SWAGGER) copyFileSync(join(swagger, name), join(target, name));
  copyFileSync(join(source, 'api-page/index.html'), join(target, 'index.html'));
  copyFileSync(join(source, 'icon.svg'), join(target, 'icon.svg'));
  const styles = STYLES.map((name) => readFileSync(join(source, name), 'utf8')).join('\n');
  writeFileSync(join(target, 'page.css'), styles);
}
