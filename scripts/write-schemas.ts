import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeHoldingsApiTypes } from '../client/generate.ts';
import { DOCUMENTS } from '../src/http/openapi-documents.ts';
import { readVersion } from '../src/version.ts';
import { feedSchemas } from './feed-schemas/all.ts';

/** Writes the JSON Schemas of the feed and the OpenAPI documents to schemas/, and the client's types; tests compare them with their source. */
const directory = join(import.meta.dirname, '../schemas');
const documents = Object.entries(DOCUMENTS).map(([area, { create }]) => [
  `openapi-${area}.json`,
  create(readVersion()),
]);
for (const [name, content] of [...Object.entries(feedSchemas()), ...documents] as [string, unknown][])
  writeFileSync(join(directory, name), `${JSON.stringify(content, null, 2)}\n`);
await writeHoldingsApiTypes();
