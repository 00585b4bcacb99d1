import { nextText, placeText } from '../dead-letters/text.ts';
import { retryHalted } from '../ingest/resolve-halt.ts';
import { type CliCommand, EXIT } from './command.ts';
import { printOn } from './dead-letter-text.ts';
import { SERVE_KEYS } from './serve.ts';
import { safeText } from './terminal-text.ts';

export const deadLettersRetryCommand: CliCommand = {
  usage: 'dead-letters retry',
  summary: 'Apply the halted message at its own place, with the settings of serve; the service must be stopped',
  examples: ['holdfast dead-letters retry', 'holdfast dead-letters retry --data ./data --record-time-gap-max 800d'],
  settings: SERVE_KEYS,
  run: async ({ config, terminal }) => {
    const { deadLetter, bad } = retryHalted(config.dataDir, { ...config, now: () => Date.now() * 1000 });
    if (bad === null) {
      terminal.stdout.write(
        `dead letter ${deadLetter.id} is applied: ingest continues after ${safeText(placeText(deadLetter))}\n`,
      );
      return EXIT.ok;
    }
    const says =
      `dead letter ${deadLetter.id} stays halted, nothing has changed: ${bad}; ` +
      `to continue: ${nextText(deadLetter, printOn(config.dataDir))}`;
    terminal.stderr.write(`holdfast: ${safeText(says)}\n`);
    return EXIT.halted;
  },
};
