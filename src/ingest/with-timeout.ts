/** Waits for the promise, but no longer than the time: then `late`. */
export function withTimeout<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, waitMs, 'late');
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
