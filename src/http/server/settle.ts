/**
 * Runs a step, then what follows its value or its fault; where the step makes no promise, none is made of it. A response that is none
 * is sent at once by @hono/node-server, without a handler for a connection that might close meanwhile.
 */
export function settle<Value, Result>(
  step: () => Value | Promise<Value>,
  onValue: (value: Value) => Result,
  onFault: (fault: unknown) => Result,
): Result | Promise<Result> {
  let value: Value | Promise<Value>;
  try {
    value = step();
  } catch (fault) {
    return onFault(fault);
  }
  return value instanceof Promise ? value.then(onValue, onFault) : onValue(value);
}
