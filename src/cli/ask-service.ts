import { readBounded } from '../bounded-body.ts';
import { fetchFailure } from '../fetch-failure.ts';

const ANSWER_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 16 * 2 ** 20;

/** GETs JSON of a running service. Throws an error of one line that names the address. */
export async function askService(base: string, path: string): Promise<unknown> {
  const url = `${base.replace(/\/+$/, '')}${path}`;
  try {
    const { body } = await fetch(url, {
      redirect: 'error',
      headers: { Accept: 'application/json' },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const bytes = await readBounded(body, ANSWER_BYTES_MAX);
    if (bytes === null) throw new Error(`more than ${ANSWER_BYTES_MAX} bytes`);
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new Error(`${url}: no answer of a Holdfast (${fetchFailure(error)})`, { cause: error });
  }
}
