import { afterEach, beforeEach } from 'vitest';

/** What is started anew for each test of the calling file. Not for tests that run at the same time. */
export function freshEach<Started extends AsyncDisposable | Disposable>(
  start: () => Started | Promise<Started>,
): Started {
  let current: Started;
  beforeEach(async () => {
    current = await start();
  });
  afterEach(async () => {
    await using _ = current;
  });
  return new Proxy({} as Started, { get: (_, name) => Reflect.get(current, name) });
}
