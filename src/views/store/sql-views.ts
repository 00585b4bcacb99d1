import type { Database } from 'better-sqlite3';

/*
 * Views for those who read views.db by SQL (deploy/analysis/README.md). SQLite's arithmetic is exact in 64 bits, so an amount is 48 digits in three
 * parts of 16: no sum of 10^10 of the largest holdings has more.
 */
const PART = '10000000000000000';

const part = (digits: string, no: number): string => `CAST(substr(${digits}, ${1 + 16 * no}, 16) AS INTEGER)`;

const digitsOf = (...parts: readonly string[]): string => `printf('%016d%016d%016d', ${parts.join(', ')})`;

/** The digits of units, without their sign. */
const padded = (units: string): string => `substr('${'0'.repeat(48)}' || ltrim(${units}, '-'), -48)`;

/** Digits as the API prints an amount. */
const amount = (digits: string): string =>
  `(ltrim(substr(${digits}, 1, 37), '0') || substr(${digits}, 38, 1) || '.' || substr(${digits}, 39))`;

/** The digits of the sum of two, or with -1 of their difference, the larger one first. */
function combined(a: string, b: string, sign = '1'): string {
  const [high, middle, low] = [0, 1, 2].map((no) => `${part(a, no)} + ${sign} * ${part(b, no)}`);
  const carry = (of: string): string => `(${of} + ${PART}) / ${PART} - 1`;
  const left = (of: string): string => `(${of} + ${PART}) % ${PART}`;
  return `(SELECT ${digitsOf(`high + ${carry('middle')}`, left('middle'), left('low'))}
    FROM (SELECT high, middle + ${carry('low')} AS middle, low
      FROM (SELECT ${high} AS high, ${middle} AS middle, ${low} AS low)))`;
}

/** Of a fixed width, so that text is in the order of time. */
const time = (micros: string): string =>
  `strftime('%Y-%m-%dT%H:%M:%S', ${micros} / 1000000, 'unixepoch') || printf('.%06dZ', ${micros} % 1000000)`;

/** What an expression is, evaluated once for each row of the tables before. */
const once = (expression: string): string => `json_each(json_array(${expression})) n`;

const digit = (at: string, of: string): string =>
  `instr('123456789ABCDEF', substr(hex(substr(v, ${at}, 1)), ${of}, 1))`;
const byte = (at: string): string => `16 * ${digit(at, '1')} + ${digit(at, '2')}`;

/** The numbers of `total.v` (stored-rows.ts) by 48 digits each, read from its end. Of rates, which may have more, the last ones. */
const numbers = `(WITH RECURSIVE read(at, byte, high, middle, low, behind) AS (
    SELECT length(v), ${byte('length(v)')}, 0, 0, 0, ''
    UNION ALL SELECT at - 1, ${byte('at - 1')},
      iif(byte < 128, 0, (high * 128 + (middle * 128 + (low * 128 + byte - 128) / ${PART}) / ${PART}) % ${PART}),
      iif(byte < 128, 0, (middle * 128 + (low * 128 + byte - 128) / ${PART}) % ${PART}),
      iif(byte < 128, byte, (low * 128 + byte - 128) % ${PART}),
      iif(byte < 128 AND at < length(v), ${digitsOf('high', 'middle', 'low')}, '') || behind
    FROM read WHERE at > 0)
  SELECT ${digitsOf('high', 'middle', 'low')} || behind FROM read WHERE at = 0)`;

/** A number of them by its place, from 0; 0 where it is left out. */
const number = (no: string): string => padded(`substr(n.value, 1 + 48 * (${no}), 48)`);
/** Where the locked half is: without unlocked coins their other numbers are left out. */
const LOCKED_AT = `iif(CAST(${number('0')} AS INTEGER) = 0, 1, 5)`;
const UNLOCKED = `iif(${LOCKED_AT} = 1, ${padded("''")}, ${number('1')})`;
const LOCKED = number(`${LOCKED_AT} + 1`);

/** Empty where there is none. */
const ACCOUNT = `i.migration_id AS migration_id, a.owner AS party_id, i.admin AS instrument_admin,
    i.name AS instrument_id, a.provider AS provider, a.account_id AS account_id`;

/** In this order, by which those of a party are found: SQLite would read all rows. */
const OF_ACCOUNTS = 'instrument i CROSS JOIN account a ON a.instrument = i.id CROSS JOIN epoch e';

const isNegative = (units: string): string => `(substr(${units}, 1, 1) = '-')`;
const signed = (units: string): string => `iif(${isNegative(units)}, '-', '') || ${amount(padded(units))}`;
const DIGITS = ['m.unlocked', 'm.locked'].map(padded);
const LARGER = `iif(${DIGITS[0]} >= ${DIGITS[1]}, m.unlocked, m.locked)`;
const SIGN = `iif(${isNegative('m.unlocked')} = ${isNegative('m.locked')}, 1, -1)`;
const CHANGE_TOTAL = `(SELECT iif(ltrim(digits, '0') <> '' AND ${isNegative(LARGER)}, '-', '') || ${amount('digits')}
    FROM (SELECT ${combined(`max(${DIGITS})`, `min(${DIGITS})`, SIGN)} AS digits))`;

const VIEWS: Readonly<Record<string, string>> = {
  v_snapshots: `SELECT s.migration_id AS migration_id, ${time('record_time')} AS record_time, forced,
    coalesce(owners, 0) AS owners, coalesce(contracts, 0) AS contracts,
    ${amount(padded("coalesce(unlocked, '0')"))} AS unlocked, ${amount(padded("coalesce(locked, '0')"))} AS locked,
    ${amount(combined(padded("coalesce(unlocked, '0')"), padded("coalesce(locked, '0')")))} AS total,
    ${['changes_digest', 'digest', 'tokens_changes_digest', 'tokens_digest'].map((name) => `lower(hex(${name})) AS ${name}`)}
  FROM snapshot s JOIN migration g ON g.migration_id = s.migration_id
  LEFT JOIN supply u ON u.instrument = g.coin AND u.seq =
    (SELECT seq FROM supply WHERE instrument = g.coin AND seq <= s.seq ORDER BY seq DESC LIMIT 1)`,

  v_totals: `WITH s AS MATERIALIZED (SELECT migration_id, seq, record_time FROM snapshot) SELECT ${ACCOUNT}, ${time('s.record_time')} AS record_time,
    ${amount(UNLOCKED)} AS unlocked, ${amount(LOCKED)} AS locked, ${amount(combined(UNLOCKED, LOCKED))} AS total,
    CAST(${number('0')} AS INTEGER) + CAST(${number(LOCKED_AT)} AS INTEGER) AS contracts
  FROM ${OF_ACCOUNTS} CROSS JOIN total t ON t.epoch = e.no AND t.account = a.id
  CROSS JOIN s ON s.migration_id = i.migration_id AND s.seq = t.seq
  JOIN ${once(numbers)}`,

  v_movements: `SELECT ${ACCOUNT}, ${time('u.record_time')} AS record_time,
    ${time('coalesce(u.counted_at, u.record_time)')} AS counted_at, u.no AS update_no,
    iif(typeof(u.update_id) = 'blob', lower(hex(u.update_id)), u.update_id) AS update_id,
    CASE WHEN ltrim(n.value, '-0.') <> '' THEN iif(${isNegative('n.value')}, 'out', 'in')
      WHEN ${isNegative('m.locked')} THEN 'unlock' ELSE 'lock' END AS kind,
    ${signed('m.unlocked')} AS change_unlocked, ${signed('m.locked')} AS change_locked, n.value AS change_total, l.legs AS legs
  FROM ${OF_ACCOUNTS} CROSS JOIN movement m ON m.epoch = e.no AND m.account = a.id JOIN ledger_update u ON u.no = m.update_no
  LEFT JOIN movement_legs l ON l.update_no = m.update_no AND l.account = m.account
  JOIN ${once(CHANGE_TOTAL)}`,
};

/** Makes the views that there are not, or that another version of this program made otherwise. They are no part of the tables' version. */
export function makeSqlViews(db: Database): void {
  const made = db.prepare<[string], string>("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?").pluck();
  for (const [name, query] of Object.entries(VIEWS)) {
    const sql = `CREATE VIEW ${name} AS ${query}`;
    if (made.get(name) !== sql) db.exec(`DROP VIEW IF EXISTS ${name}; ${sql}`);
  }
}

/** Before tables are renamed or dropped, which views that name them would follow or forbid. */
export function dropSqlViews(db: Database): void {
  for (const name of Object.keys(VIEWS)) db.exec(`DROP VIEW IF EXISTS ${name}`);
}
