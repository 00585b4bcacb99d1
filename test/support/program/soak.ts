import { join } from 'node:path';

/** Most of what a short process costs is the compiling of its code, the same each time. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../../node_modules/.cache/holdfast-tests');

/**
 * How often a random test runs: the usual count, or HOLDFAST_SOAK where `npm run soak` sets it. Only tests know that
 * variable; the program refuses it, so processes that tests start must not get it (see `programEnv`).
 */
export function soakCount(usual: number): number {
  const given = process.env.HOLDFAST_SOAK;
  return given === undefined ? usual : Number(given);
}

/**
 * The environment of a process that a test starts, without any setting of the program, and without further certificates:
 * Node warns where it has too few open files to read them, and a test counts what is said.
 */
export function programEnv(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HOLDFAST_|NODE_EXTRA_CA_CERTS$)/.test(name));
  return { ...Object.fromEntries(inherited), NODE_COMPILE_CACHE: COMPILE_CACHE };
}
