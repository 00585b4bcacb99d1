import { readFileSync } from 'node:fs';
import { migrateStore } from '../../../src/scale/store-form.ts';
import { fixture } from '../http/expected-answers.ts';
import { TEN_MINUTES_US } from '../views/replayed.ts';
import { tablesOfFeed } from './feed-tables.ts';
import type { PostgresServer } from './postgres.ts';
import { upsert } from './rows.ts';

const DSO = 'DSO::1220bba319c9c823d166e41281696923ad9481c065e891e86e9b257381fa82439928';

/** Writes the rows of the fixtures' story as an engine does; nothing is sealed. */
export async function writeStory(server: PostgresServer): Promise<void> {
  await using client = await server.connect();
  await migrateStore(server.settings(), { dso: DSO, periodUs: TEN_MINUTES_US });
  const lines = readFileSync(fixture('story.scan.ndjson'), 'utf8').trimEnd().split('\n');
  await upsert(client, tablesOfFeed(lines, { dso: DSO, migrationId: 0 }));
}
