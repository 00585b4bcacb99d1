import { pino } from 'pino';
import { openUsers } from '../../../src/users/open-users.ts';
import { EMPTY_USER } from '../../../src/users/user-requests.ts';
import { parseUsersConfig } from '../../../src/users/users-config.ts';
import type { HistoryItem } from '../ledger/history.ts';
import { parseLedger } from '../ledger/parse-ledger.ts';
import { linesOf, replayInto } from '../views/replayed.ts';
import type { TemporaryDirectory } from './temporary-directory.ts';

const OWNERS = 2_000;
const OWNERS_PER_UPDATE = 500;
const DEAD_LETTERS = 100;
const USERS = 2_000;
/** An identity provider that half of the users are of. */
export const LARGE_PROVIDER = 'large';

/**
 * Makes a data directory with many snapshots (22,000, of two migrations), owners (o0, o1 and so on, a coin each), dead letters and
 * users: so many that whatever looks at all of them reads far more pages than a look-up.
 */
export async function makeLargeDirectory(folder: TemporaryDirectory): Promise<string> {
  const dataDir = folder.at('large');
  const feed = folder.writeLines('large.ndjson', linesOf(ledger(), 'scan'));
  const made = await replayInto(dataDir, [feed], { snapshotPeriodUs: 1_000_000, onBadUpdate: 'quarantine' });
  if (made.quarantined !== DEAD_LETTERS) throw new Error(`${made.quarantined} dead letters`);
  insertUsers(dataDir);
  return dataDir;
}

function* ledger(): Iterable<HistoryItem> {
  for (let first = 0; first < OWNERS; first += OWNERS_PER_UPDATE) {
    const creates = Array.from({ length: OWNERS_PER_UPDATE }, (_, i) => `+c${first + i} o${first + i} 1`);
    yield* parseLedger(`01:00:00.${String(first).padStart(6, '0')} =o${first} : ${creates.join(' ; ')}`);
  }
  for (let i = 0; i < DEAD_LETTERS; i++)
    yield* parseLedger(`01:01:00.${String(i).padStart(6, '0')} =bad${i} : -never${i}`);
  yield* parseLedger('06:00 =end : ');
  yield* parseLedger('06:00 m1 =begin : +r round 104 ; +z alice 1\n07:00 m1 =end : ');
}

function insertUsers(dataDir: string): void {
  const config = parseUsersConfig({ value: undefined, folder: dataDir });
  using users = openUsers({ dataDir, config, participantId: null, logger: pino({ level: 'silent' }) });
  const provider = { isDeactivated: false, issuer: 'i', jwksUrl: 'https://i.example', audience: '' };
  users.write((writer) => {
    writer.insertIdentityProvider({ ...provider, id: LARGE_PROVIDER });
    for (let i = 0; i < USERS; i++) {
      const identityProviderId = i % 2 === 0 ? '' : LARGE_PROVIDER;
      writer.insertUser({ ...EMPTY_USER, id: `many${i}`, identityProviderId, resourceVersion: 0n });
    }
  });
}
