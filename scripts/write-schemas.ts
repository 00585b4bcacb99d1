import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { feedSchemas } from './feed-schemas/all.ts';

/** Writes the JSON Schemas of the feed to schemas/, where a test compares them with their source. */
const directory = join(import.meta.dirname, '../schemas');
for (const [name, schema] of Object.entries(feedSchemas())) {
  writeFileSync(join(directory, name), `${JSON.stringify(schema, null, 2)}\n`);
}
