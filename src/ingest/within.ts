/** What the promise resolves to; `late` where it takes longer. */
export function within<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, waitMs, 'late');
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
