/**
 * How often a random test runs: the usual count, or HOLDFAST_SOAK where `npm run soak` sets it. Only tests know that
 * variable; the program refuses it, so processes that tests start must not get it (see `programEnv`).
 */
export function soakCount(usual: number): number {
  const given = process.env.HOLDFAST_SOAK;
  return given === undefined ? usual : Number(given);
}

/** The environment without any setting of the program. */
export function programEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_')));
}
