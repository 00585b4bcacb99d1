import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Options of a table, by name: `WITH ('topic' = 'coins', ...)`. */
export type SqlOptions = Readonly<Record<string, string>>;

/** A text or a whole number for `${name}`, options for `${...name}`. */
export type SqlParameters = Readonly<Record<string, string | number | SqlOptions>>;

/** Of a checkout and of the build alike. */
const JOB = new URL('../../flink/holdings.sql', import.meta.url);

/** The job as statements for Flink's SQL gateway, and what tells it from another one. */
export interface JobSql {
  /** The SHA-256 of the text without comments, to which the state of a savepoint belongs. */
  readonly digest: string;
  /** Throws where a parameter is missing, or is one that the job does not have. */
  statements(parameters: SqlParameters): readonly string[];
}

export function readJobSql(): JobSql {
  return jobSqlOf(readFileSync(JOB, 'utf8'));
}

export function jobSqlOf(text: string): JobSql {
  const bare = text.replaceAll(/^\s*--.*\n/gm, '').replaceAll(/\n{2,}/g, '\n');
  return {
    digest: createHash('sha256').update(bare).digest('hex'),
    statements(parameters) {
      const used = new Set<string>();
      // Split before values are put in, so that none of them ends a statement.
      const statements = split(bare).map((statement) =>
        statement.replaceAll(/\$\{(\.\.\.)?(\w+)\}/g, (_, spread: string | undefined, name: string) => {
          if (!Object.hasOwn(parameters, name)) throw new Error(`the job's SQL needs a parameter ${name}`);
          used.add(name);
          return rendered(name, parameters[name]!, spread !== undefined);
        }),
      );
      const unused = Object.keys(parameters).filter((name) => !used.has(name));
      if (unused.length > 0) throw new Error(`the job's SQL has no parameter ${unused.join(', ')}`);
      return statements;
    },
  };
}

/** A statement ends with a semicolon at the end of a line; a statement set with the line `END;`. */
function split(text: string): string[] {
  return [...text.matchAll(/^EXECUTE STATEMENT SET[\s\S]*?^END;$|\S[\s\S]*?;$/gm)].map(([statement]) =>
    statement.startsWith('EXECUTE') ? statement : statement.slice(0, -1),
  );
}

function rendered(name: string, value: SqlParameters[string], isSpread: boolean): string {
  if (isSpread !== (typeof value === 'object')) throw new Error(`the job's SQL has another kind of parameter ${name}`);
  if (typeof value === 'string') return literal(value);
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([key, text]) => `${literal(key)} = ${literal(text)}`)
      .join(', ');
  if (!Number.isSafeInteger(value)) throw new Error(`parameter ${name} of the job's SQL is ${value}`);
  return String(value);
}

/** Flink's SQL knows no other escape in a text. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
