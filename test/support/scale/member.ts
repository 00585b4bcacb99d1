import { registerHooks } from 'node:module';
import type { LogLine } from '../kafka/reading.ts';
import { BUILT } from '../program/built.ts';
import type { MemberTask } from './members.ts';

registerHooks({
  resolve: (specifier, context, next) => next(specifier.replace(BUILT.find, BUILT.replacement), context),
});
const { startMember } = await import('./members.ts');

/**
 * A process of its own for tests that kill it: a decoder with the options given as JSON, until SIGTERM. It writes a character for
 * each partition that it begins to decode.
 */
const lines: LogLine[] = [];
lines.push = (line) => {
  if (line.message === 'decoding a partition') process.stdout.write('.');
  return 0;
};
await using member = startMember(JSON.parse(process.argv[2]!) as MemberTask, lines);
await Promise.race([new Promise((resolve) => process.once('SIGTERM', resolve)), member.ended]);
