/** An error in the form in which threads send it: a structured clone keeps neither its code nor its class. */
export interface PortableError {
  /** The names of its classes, its own first. */
  readonly classes: readonly string[];
  readonly message: string;
  readonly stack: string | undefined;
  /** Its own properties, such as `name`, `code`, or `path` of a system error. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly cause: PortableError | null;
}

// Constructors may need any arguments, so none is called.
export type ErrorClass = abstract new (...given: never[]) => Error;

export function toPortable(thrown: unknown): PortableError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name, message, stack, cause } = error;
  return {
    classes: classesOf(error),
    message,
    stack,
    properties: { ...Object.fromEntries(Object.entries(error).filter(([, value]) => isCloneable(value))), name },
    cause: cause === undefined ? null : toPortable(cause),
  };
}

/** The error, as one of these classes where it was one; otherwise an Error with its class's name. */
export function fromPortable(portable: PortableError, classes: readonly ErrorClass[]): Error {
  const { message, stack, properties, cause } = portable;
  const error = new Error(message, cause === null ? {} : { cause: fromPortable(cause, classes) });
  const known = portable.classes.map((name) => classes.find((each) => each.name === name)).find(Boolean);
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  return Object.assign(error, { ...properties, ...(stack === undefined ? {} : { stack }) });
}

function classesOf(error: Error): string[] {
  const names: string[] = [];
  let prototype: unknown = Object.getPrototypeOf(error);
  while (prototype instanceof Error) {
    names.push(prototype.constructor.name);
    prototype = Object.getPrototypeOf(prototype);
  }
  return names;
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
