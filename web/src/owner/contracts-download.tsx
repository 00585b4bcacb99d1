import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type AskError, ask } from '../data/ask.ts';
import { contractsRequest, type Holding } from '../data/requests.ts';
import { COIN_FIELDS, coinLine, coinOf } from './coin.ts';

/** The most that one page may have. */
const PAGE = 1000;
/** All rows are in the memory of the browser until they are a file: some 60 MB. */
const ROWS_MAX = 200_000;

/** The contracts of all pages as one CSV, which this page writes: the service has contracts as JSON only. */
export function ContractsDownload({ holding }: { readonly holding: Holding }): JSX.Element {
  const [said, setSaid] = useState<string | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const download = async (): Promise<void> => {
    if (stop.current !== null) return;
    stop.current = new AbortController();
    try {
      const lines = await readAll(holding, stop.current.signal, (count) => setSaid(`${count} read…`));
      save(lines, `contracts-${holding.party.split('::')[0]}-${holding.time}.csv`);
      setSaid(null);
    } catch (error) {
      setSaid((error as AskError).message);
    }
    stop.current = null;
  };
  return (
    <>
      <span class="faint" role="status">
        {said}
      </span>
      <button type="button" class="tool" onClick={download}>
        CSV
      </button>
    </>
  );
}

async function readAll(holding: Holding, signal: AbortSignal, progress: (count: number) => void): Promise<string[]> {
  const lines = [`${COIN_FIELDS.join(',')}\r\n`];
  let after: unknown;
  do {
    const page = await ask(contractsRequest(holding, { pageSize: PAGE, after }), signal);
    for (const event of page.created_events) lines.push(coinLine(coinOf(event)));
    if (lines.length > ROWS_MAX) throw new Error(`More than ${ROWS_MAX} contracts: use the request that curl shows.`);
    progress(lines.length - 1);
    after = page.next_page_token ?? undefined;
  } while (after !== undefined);
  return lines;
}

function save(lines: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob(lines as string[], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(':', '');
  link.click();
  URL.revokeObjectURL(url);
}
