import { showGiven } from '../../show-given.ts';

/** An answer other than success that the caller can understand: its status and the message of its `error` field. */
export class HttpFault extends Error {
  readonly status: number;
  /** Headers of the answer, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'HttpFault';
    this.status = status;
    this.headers = headers;
  }
}

/** A 400 that names what is wrong in a request, such as a field or a parameter. */
export function wrongValue(name: string, given: unknown, expected: string): HttpFault {
  return new HttpFault(400, `${name.slice(0, 100)}: given ${showGiven(given)}, expected ${expected}`);
}
