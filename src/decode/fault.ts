import { BadUpdate } from '../ledger/bad-update.ts';

/**
 * What is wrong with a field, by its path within the object being read. Readers throw it, and the caller that knows the path
 * of that object turns it into a BadUpdate. So good updates cost no path.
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

/** Runs `read`; a Fault becomes a BadUpdate with `path` before its own. */
export function within<T>(path: () => string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw located(error, path);
  }
}

/** As `within`, but returns the BadUpdate: it does not matter in every contract. */
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
