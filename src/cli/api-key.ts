import { hash, randomBytes } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { parseApiKeys, REQUESTS_MAX } from '../http/api-keys.ts';
import { readNamed, requireUsable } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { count, optionName, parseAs } from '../setting-kinds.ts';
import type { CliCommand } from './command.ts';

const RATE = count(1, REQUESTS_MAX);
const PER_MINUTE = RATE('requests a minute (default: 600)');
const BURST = RATE('requests at once (default: those of a minute)');

export const apiKeyCommand: CliCommand = {
  usage: 'api-key <NAME>',
  summary: 'Make a key for a client of the API, add its hash to --api-keys-file, and print it once',
  examples: ['holdfast api-key explorer --api-keys-file api-keys.ndjson'],
  dataDir: 'unused',
  settings: ['apiKeysFile'],
  helps: { apiKeysFile: 'file of the hashes, of which a running service takes note; created if missing' },
  addOptions: (command) => command.option('--per-minute <N>', PER_MINUTE.help).option('--burst <N>', BURST.help),
  run: async ({ args, options, config: { apiKeysFile: file }, terminal }) => {
    if (file === null) throw new Refusal(`${optionName('apiKeysFile')} is required: the key's hash is added to it`);
    // Nobody finds so many bytes by trying, so that a plain hash is enough.
    const key = `holdfast_${randomBytes(32).toString('base64url')}`;
    const perMinute = parseAs('--per-minute', PER_MINUTE, options.perMinute ?? '600');
    const burst = options.burst === undefined ? undefined : parseAs('--burst', BURST, options.burst);
    const line = JSON.stringify({ name: args[0], sha256: hash('sha256', key), perMinute, burst });
    const before = existsSync(file) ? readNamed(optionName('apiKeysFile'), file) : Buffer.alloc(0);
    const added = `${before.length === 0 || before.at(-1) === 0x0a ? '' : '\n'}${line}\n`;
    parseApiKeys(file, Buffer.concat([before, Buffer.from(added)]));
    requireUsable(optionName('apiKeysFile'), `cannot write ${file}`, () => appendFileSync(file, added));
    terminal.stdout.write(`${key}\n`);
  },
};
