/**
 * Like a promise's `then`, but synchronous where the step is: @hono/node-server sends a response that is no promise at once, and
 * needs no handler for a connection that closes meanwhile.
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
