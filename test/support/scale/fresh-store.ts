import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { migrateStore, type StoreSettings } from '../../../src/scale/store-form.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

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
