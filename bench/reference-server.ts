import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import pg from 'pg';
import { plainDecimal } from '../test/support/ledger/wire-text.ts';

/**
 * The reference approach to a summary, as in Splice Scan: load every contract of the requested owners from the snapshot,
 * decode it and add it up in the client. Its arguments are kept as plain JSON here, which is kinder than its own form.
 */
const CONTRACTS = `
  WITH found AS (
    SELECT create_id, max(row_id) AS row_id FROM snapshot_data
    WHERE row_id BETWEEN $1 AND $2 AND stakeholder = ANY($3) AND template_id = ANY($4)
    GROUP BY create_id ORDER BY row_id ASC LIMIT 100000)
  SELECT found.row_id, contract_id, creates.template_id, create_arguments, signatories, observers, created_at
  FROM found JOIN creates ON creates.row_id = found.create_id ORDER BY found.row_id`;

const TEMPLATES = ['Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet'];
const SNAPSHOT = "SELECT * FROM snapshot WHERE record_time <= 'second' ORDER BY record_time DESC LIMIT 1";

const ROUND = 20_000n;
const pool = new pg.Pool({ host: process.argv[2]!, user: 'bench', database: 'postgres', max: 16 });
const app = new Hono();

app.post('/summary', async (c) => {
  const { owner_party_ids, migration_id } = await c.req.json();
  const client = await pool.connect();
  try {
    // Named, so prepared once for each connection, as Scan's driver does with what it sends again and again. PostgreSQL
    // itself decides whether it plans again for these values, as it does there.
    const snapshots = await client.query({ name: 'snapshot', text: SNAPSHOT });
    const { first_row_id, last_row_id, record_time } = snapshots.rows[0];
    const values = [first_row_id, last_row_id, owner_party_ids, TEMPLATES];
    const { rows } = await client.query({ name: 'contracts', text: CONTRACTS, values });
    const summaries = owner_party_ids.map((party: string) => summaryOf(party, rows));
    return c.json({ record_time, migration_id, computed_as_of_round: Number(ROUND), summaries });
  } finally {
    client.release();
  }
});

interface Row {
  readonly create_arguments: Coin & { readonly amulet?: Coin };
}

interface Coin {
  readonly owner: string;
  readonly amount: {
    readonly initialAmount: string;
    readonly createdAt: { readonly number: string };
    readonly ratePerRound: { readonly rate: string };
  };
}

function summaryOf(party: string, rows: readonly Row[]): Record<string, string> {
  const totals = { unlocked: 0n, locked: 0n };
  const fees = { unlocked: 0n, locked: 0n };
  for (const { create_arguments } of rows) {
    const { owner, amount } = create_arguments.amulet ?? create_arguments;
    if (owner !== party) continue;
    const kind = create_arguments.amulet === undefined ? 'unlocked' : 'locked';
    const initial = units(amount.initialAmount);
    const accrued = (ROUND - BigInt(amount.createdAt.number)) * units(amount.ratePerRound.rate);
    totals[kind] += initial;
    fees[kind] += accrued < initial ? accrued : initial;
  }
  return {
    party_id: party,
    total_unlocked_coin: plainDecimal(totals.unlocked),
    total_locked_coin: plainDecimal(totals.locked),
    total_coin_holdings: plainDecimal(totals.unlocked + totals.locked),
    accumulated_holding_fees_unlocked: plainDecimal(fees.unlocked),
    accumulated_holding_fees_locked: plainDecimal(fees.locked),
    accumulated_holding_fees_total: plainDecimal(fees.unlocked + fees.locked),
    total_available_coin: plainDecimal(totals.unlocked - fees.unlocked),
  };
}

function units(decimal: string): bigint {
  return BigInt(decimal.replace('.', ''));
}

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stderr.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
