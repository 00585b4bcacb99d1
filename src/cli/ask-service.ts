const ANSWER_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 16 * 2 ** 20;

/** GETs JSON of a running service. Throws an error of one line that names the address. */
export async function askService(base: string, path: string): Promise<unknown> {
  const url = `${base.replace(/\/+$/, '')}${path}`;
  try {
    const response = await fetch(url, {
      headers: { Accept: 'application/json' },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return JSON.parse(await textOf(response));
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new Error(`${url}: no answer of a Holdfast (${why})`, { cause: error });
  }
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`more than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
