import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { contractsRequest, type Holding, type RequestError, type State, send } from '../data/api.ts';
import { AnswerCard } from '../parts/card.tsx';
import { amountColumn, type Column, Pager, Table, usePages } from '../parts/table.tsx';
import { Time } from '../parts/values.tsx';

/** A coin as text. Its arguments come from the feed, so any of them may be missing. */
interface Coin {
  readonly contract_id: string;
  readonly created_at: string;
  readonly locked: boolean;
  readonly amount: string;
  readonly rate_per_round: string;
  readonly created_round: string;
}

function coinOf({ contract_id, created_at, create_arguments }: State['created_events'][number]): Coin {
  const amulet = create_arguments.amulet ?? create_arguments;
  return {
    contract_id,
    created_at,
    locked: create_arguments.amulet !== undefined,
    amount: textAt(amulet, 'amount', 'initialAmount'),
    rate_per_round: textAt(amulet, 'amount', 'ratePerRound', 'rate'),
    created_round: textAt(amulet, 'amount', 'createdAt', 'number'),
  };
}

function textAt(value: unknown, ...names: readonly string[]): string {
  let found = value;
  for (const name of names) found = (found as Readonly<Record<string, unknown>> | undefined)?.[name];
  return found === undefined ? '' : String(found);
}

const PAGE = 10;

const COLUMNS: readonly Column<Coin>[] = [
  { name: 'Created', cell: ({ created_at }) => <Time of={created_at} /> },
  {
    name: 'Coin',
    cell: ({ locked }) => <span class={`tag ${locked ? 'locked' : 'unlocked'}`}>{locked ? 'locked' : 'unlocked'}</span>,
  },
  amountColumn('Amount', ({ amount }) => amount),
  amountColumn('Fee per round', ({ rate_per_round }) => rate_per_round),
  { name: 'Created in round', number: true, cell: ({ created_round }) => created_round },
  { name: 'Contract', cell: ({ contract_id }) => <code class="contract-id">{contract_id}</code> },
];

interface Props {
  readonly holding: Holding;
  /** Whether the user chose the snapshot; if not, it is the newest. */
  readonly isChosen: boolean;
}

/** The contracts of a party, in the order of their creation. */
export function ContractsCard({ holding, isChosen }: Props): JSX.Element {
  // Later pages stay at the snapshot of the first, and a download at the one at which it started.
  const question = JSON.stringify([holding.party, holding.migration, isChosen && holding.time]);
  const pages = usePages<{ readonly token: unknown; readonly time: string }>(question);
  const shown = pages.after === undefined ? holding : { ...holding, time: pages.after.time };
  return (
    <AnswerCard
      title="Contracts"
      request={contractsRequest(shown, { pageSize: PAGE, after: pages.after?.token })}
      aside={<Download key={question} holding={shown} />}
      lines={PAGE}
    >
      {({ record_time, created_events, next_page_token }) => (
        <>
          <Table
            caption="Coin contracts"
            columns={COLUMNS}
            rows={created_events.map(coinOf)}
            keyOf={({ contract_id }) => contract_id}
            empty="This party had no active contract at this snapshot."
          />
          <Pager pages={pages} next={next_page_token === null ? null : { token: next_page_token, time: record_time }} />
        </>
      )}
    </AnswerCard>
  );
}

const CSV_FIELDS = ['contract_id', 'created_at', 'locked', 'amount', 'rate_per_round', 'created_round'] as const;
/** The most that one page may have. */
const DOWNLOAD_PAGE = 1000;
/** All rows are in the memory of the browser until they are a file: some 60 MB. */
const ROWS_MAX = 200_000;

/** Writes the contracts of all pages as one CSV: the service has contracts as JSON only. */
function Download({ holding }: { readonly holding: Holding }): JSX.Element {
  const [note, setNote] = useState<string | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const download = async (): Promise<void> => {
    if (stop.current !== null) return;
    stop.current = new AbortController();
    try {
      const lines = await readAll(holding, stop.current.signal, (count) => setNote(`${count} read…`));
      save(lines, `contracts-${holding.party.split('::')[0]}-${holding.time}.csv`);
      setNote(null);
    } catch (error) {
      setNote((error as RequestError).message);
    }
    stop.current = null;
  };
  return (
    <>
      <span class="faint" role="status">
        {note}
      </span>
      <button type="button" class="tool" onClick={download}>
        CSV
      </button>
    </>
  );
}

async function readAll(holding: Holding, signal: AbortSignal, progress: (count: number) => void): Promise<string[]> {
  const lines = [`${CSV_FIELDS.join(',')}\r\n`];
  let after: unknown;
  do {
    const page = await send(contractsRequest(holding, { pageSize: DOWNLOAD_PAGE, after }), signal);
    for (const coin of page.created_events.map(coinOf))
      lines.push(`${CSV_FIELDS.map((field) => coin[field]).join(',')}\r\n`);
    if (lines.length > ROWS_MAX) throw new Error(`More than ${ROWS_MAX} contracts: use the curl command.`);
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
