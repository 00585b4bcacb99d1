import { BadUpdate } from '../ledger/bad-update.ts';

/**
 * What is wrong with a field, named relative to the object being read. Readers throw it; whoever knows where that object
 * lies in the message turns it into a BadUpdate. So no path is put together for the updates that are good.
 */
class Fault {
  readonly field: string;
  readonly given: unknown;
  readonly expected: string;

  constructor(field: string, given: unknown, expected: string) {
    this.field = field;
    this.given = given;
    this.expected = expected;
  }

  under(path: string): BadUpdate {
    if (path === '') return new BadUpdate('bad_field', this.field, this.given, this.expected);
    const field = this.field === '' ? path : `${path}.${this.field}`;
    return new BadUpdate('bad_field', field, this.given, this.expected);
  }
}

export function fault(field: string, given: unknown, expected: string): never {
  throw new Fault(field, given, expected);
}

/** Runs `read`; a Fault of it becomes the BadUpdate it means under `path`. */
export function within<T>(path: () => string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw located(error, path);
  }
}

/** As `within`, for what may be wrong without harm: the BadUpdate is the answer. */
export function attempt<T>(path: () => string, read: () => T): T | BadUpdate {
  try {
    return read();
  } catch (error) {
    return located(error, path);
  }
}

function located(error: unknown, path: () => string): BadUpdate {
  if (error instanceof Fault) return error.under(path());
  throw error;
}
