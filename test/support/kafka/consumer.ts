import { registerHooks } from 'node:module';
import type { Logger } from 'pino';
import { BUILT } from '../program/built.ts';

registerHooks({
  resolve: (specifier, context, next) => next(specifier.replace(BUILT.find, BUILT.replacement), context),
});
const { startService } = await import('../../../src/service/start-service.ts');
const { keepingLogger } = await import('./reading.ts');
const { serviceConfig } = await import('./service.ts');

/**
 * A process of its own for tests that kill it: the service of `serve`, with the options given as JSON. Says its address on
 * standard output, and ends cleanly at SIGTERM.
 */
const options = JSON.parse(process.argv[2]!) as Record<string, unknown>;
await using service = await startService(serviceConfig(options), { logger: keepingLogger() as unknown as Logger });
process.stdout.write(`${service.url}\n`);
await Promise.race([new Promise((resolve) => process.once('SIGTERM', resolve)), service.failed]);
