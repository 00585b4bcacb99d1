import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createClient } from '../../../client/src/index.ts';

/**
 * A wallet: credits each deposit of an owner that a stream sends it, in one write with the id behind which it goes on, and may be killed at
 * any time. Arguments: the service, the owner, the file of its credits, and the id of the snapshot that it begins with.
 */
const [url, owner, file, begin] = process.argv.slice(2) as [string, string, string, string];
const credits = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
const last = credits.at(-1)?.split('\t')[0] ?? begin;
const { movements } = createClient({ url });
for await (const { id, lastEventId, update_id, change_total } of movements({ owners: [owner], lastEventId: last })) {
  if (id !== lastEventId) throw new Error('the service does not know where this client was');
  appendFileSync(file, `${id}\t${update_id} ${Number(change_total)}\n`);
}
