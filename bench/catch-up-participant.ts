import { readFileSync } from 'node:fs';
import { startFakeParticipant } from '../test/support/ledger-api/server.ts';

/** A participant over lines of format B. */
const lines = readFileSync(process.argv[2]!, 'utf8').trimEnd().split('\n');
const { url } = await startFakeParticipant({ lines });
process.stderr.write(`${JSON.stringify({ url })}\n`);
process.on('SIGTERM', () => process.exit(0));
