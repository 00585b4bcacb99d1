import type { z } from 'zod';
import type { stateV0 } from '../../../src/http/holdings/state-operations.ts';
import type { summaryV0, summaryV1 } from '../../../src/http/holdings/summary-operations.ts';
import type * as tables from '../../../src/http/insight/operations.ts';

/** The answers of the service, by the schemas with which it describes them. */
type AnswerOf<Operation extends { readonly answer: z.ZodType }> = z.infer<Operation['answer']>;

export type Snapshots = AnswerOf<typeof tables.snapshots>;
export type Snapshot = Snapshots['snapshots'][number];
export type Owners = AnswerOf<typeof tables.owners>;
export type History = AnswerOf<typeof tables.history>;
export type Changes = AnswerOf<typeof tables.changes>;
export type Top = AnswerOf<typeof tables.top>;
export type SummaryV0 = AnswerOf<typeof summaryV0>;
export type SummaryV1 = AnswerOf<typeof summaryV1>;
export type State = AnswerOf<typeof stateV0>;

/** What the page uses of /status, which has no more than this in common for all sources. */
export interface Status {
  readonly version: string;
  readonly phase: string;
  /** Null where nothing is read, or where another process reads. */
  readonly source: { readonly name: string; readonly network?: { readonly errors_in_a_row: number } } | null;
  readonly snapshots: readonly { readonly migration_id: unknown; readonly record_time: string }[];
  readonly dso: string | null;
  readonly counts?: Readonly<Record<string, unknown>>;
  readonly dead_letters: Readonly<Record<string, number>>;
  readonly halted?: { readonly next: string } | null;
}

/** What every part of a page needs to ask: the migration that is shown, and its newest snapshot. */
export interface Here {
  readonly migration: string;
  /** Milliseconds between two snapshots of the grid. */
  readonly periodMs: number;
  readonly newest: Snapshot;
}
