import { linesOf } from './lines.ts';
import type { Postgres } from './reference-postgres.ts';

/**
 * The tables that Splice Scan's holdings operations read (its acs_snapshot_data and update_history_creates), with the
 * columns that a summary needs, and one snapshot: a row for each stakeholder of each active contract.
 */
const TABLES = `
  CREATE TABLE creates (
    row_id bigint PRIMARY KEY, contract_id text NOT NULL, template_id text NOT NULL, create_arguments jsonb NOT NULL,
    signatories text[] NOT NULL, observers text[] NOT NULL, created_at text NOT NULL);
  CREATE TABLE snapshot_data (
    row_id bigserial PRIMARY KEY, create_id bigint NOT NULL, template_id text NOT NULL, stakeholder text NOT NULL);
  CREATE TABLE snapshot (record_time text PRIMARY KEY, first_row_id bigint NOT NULL, last_row_id bigint NOT NULL);
`;

/** Those that Scan keeps: with others PostgreSQL may read a whole snapshot to find one owner. */
const INDEXES = `
  CREATE INDEX ON creates (contract_id);
  CREATE INDEX ON snapshot_data (template_id, stakeholder, row_id) INCLUDE (create_id);
  CREATE INDEX ON snapshot_data (stakeholder, row_id) INCLUDE (create_id);
  ANALYZE;
`;

/** Copies everything active and gives its snapshot a row; a later one is sealed in just this way, from the one before. */
const SEAL = `
  WITH inserted AS (
    INSERT INTO snapshot_data (create_id, template_id, stakeholder)
    SELECT row_id, template_id, stakeholder
    FROM creates CROSS JOIN unnest(array_cat(signatories, observers)) AS stakeholders (stakeholder)
    ORDER BY created_at, contract_id
    RETURNING row_id)
  INSERT INTO snapshot SELECT :'record_time', min(row_id), max(row_id) FROM inserted;
`;

const COPY_ROWS = 5_000;
const COIN = /:(Splice\.Amulet:(?:Locked)?Amulet)$/;

interface WireEvent {
  readonly event_type: string;
  readonly contract_id: string;
  readonly template_id: string;
  readonly package_name: string;
  readonly create_arguments: unknown;
  readonly created_at: string;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly consuming: boolean;
}

/** Loads the coins that a feed leaves active, seals two snapshots of them and says what the second took, in seconds. */
export function loadReference(postgres: Postgres, feed: string): { contracts: number; sealSeconds: number } {
  postgres.sql(TABLES);
  const active = activeCoins(feed);
  let rows: string[] = [];
  let rowId = 0;
  const flush = (): void => {
    postgres.sql(`COPY creates FROM stdin;\n${rows.join('')}\\.\n`);
    rows = [];
  };
  for (const coin of active.values()) {
    rows.push(copyRow(++rowId, coin));
    if (rows.length === COPY_ROWS) flush();
  }
  flush();
  postgres.sql(`\\set record_time first\n${SEAL}${INDEXES}`);
  const started = performance.now();
  postgres.sql(`\\set record_time second\n${SEAL}`);
  const sealSeconds = (performance.now() - started) / 1000;
  postgres.sql('VACUUM ANALYZE;');
  return { contracts: active.size, sealSeconds };
}

function activeCoins(feed: string): Map<string, WireEvent> {
  const active = new Map<string, WireEvent>();
  for (const line of linesOf(feed)) {
    const { events_by_id } = JSON.parse(line.toString('utf8')) as { events_by_id: Record<string, WireEvent> };
    const events = Object.values(events_by_id).filter((event) => event.package_name === 'splice-amulet');
    // Transients leave nothing behind, whichever of their events comes first.
    for (const event of events) if (event.event_type === 'created_event') active.set(event.contract_id, event);
    for (const event of events) if (event.consuming) active.delete(event.contract_id);
  }
  for (const [contractId, { template_id }] of active) if (!COIN.test(template_id)) active.delete(contractId);
  return active;
}

function copyRow(rowId: number, coin: WireEvent): string {
  const cells = [
    rowId,
    coin.contract_id,
    COIN.exec(coin.template_id)![1],
    JSON.stringify(coin.create_arguments),
    arrayText(coin.signatories),
    arrayText(coin.observers),
    coin.created_at,
  ];
  return `${cells.map((cell) => String(cell).replaceAll('\\', '\\\\')).join('\t')}\n`;
}

function arrayText(parties: readonly string[]): string {
  return `{${parties.map((party) => `"${party}"`).join(',')}}`;
}
