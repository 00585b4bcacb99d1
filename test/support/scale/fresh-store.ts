import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { migrateStore, type StoreSettings } from '../../../src/scale/store-form.ts';
import { fixture } from '../http/expected-answers.ts';
import { TEN_MINUTES_US } from '../views/replayed.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { tablesOfFeed, upsert } from './rows.ts';

/** A server for the calling file, with a store that is empty before each of its tests. */
export interface FreshStore {
  readonly server: PostgresServer;
  /** A connection of its owner. */
  readonly client: Client;
}

export function freshStore(settings: StoreSettings): FreshStore {
  let server: PostgresServer;
  let client: Client;
  beforeAll(async () => {
    server = await startPostgres();
    client = await server.connect();
  });
  afterAll(async () => {
    await client.end();
    await server[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC');
    await migrateStore(server.settings(), settings);
  });
  return {
    get server() {
      return server;
    },
    get client() {
      return client;
    },
  };
}

const DSO = 'DSO::1220bba319c9c823d166e41281696923ad9481c065e891e86e9b257381fa82439928';

/** Writes the rows of the fixtures' story as an engine does; nothing is sealed. */
export async function writeStory(server: PostgresServer): Promise<void> {
  await using client = await server.connect();
  await migrateStore(server.settings(), { dso: DSO, periodUs: TEN_MINUTES_US });
  const lines = readFileSync(fixture('story.scan.ndjson'), 'utf8').trimEnd().split('\n');
  await upsert(client, tablesOfFeed(lines, { dso: DSO, migrationId: 0 }));
}
