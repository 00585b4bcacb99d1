import { realLedger } from '../test/support/ledger/options.ts';
import { makeFeed } from './make-feed.ts';

/** Writes a feed of so many events to standard output. */
const events = Number(process.argv[2]);
makeFeed('/dev/stdout', realLedger({ seed: 1, events }), events);
