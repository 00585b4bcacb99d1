import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { openStream } from './event-stream.ts';

/**
 * A wallet: credits each deposit of an owner that a stream sends it, in one write with the id behind which it goes on, and may be killed at
 * any time. Arguments: the service, the owner, the file of its credits, and the id of the snapshot that it begins with.
 */
const [url, owner, file, begin] = process.argv.slice(2) as [string, string, string, string];
const credits = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
const lastEventId = credits.at(-1)?.split('\t')[0] ?? begin;
const stream = await openStream(url, { owners: [owner], events: 'movements', lastEventId });
for (let next = 0; ; ) {
  await stream.until(() => stream.events.length > next);
  for (const { id, name, data } of stream.events.slice(next)) {
    if (name === 'reset') throw new Error('the service does not know where this client was');
    if (name === 'movement') appendFileSync(file, `${id}\t${data.update_id} ${Number(data.change_total)}\n`);
    next += 1;
  }
}
