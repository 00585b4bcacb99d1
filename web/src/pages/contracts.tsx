import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { changeQuery, useAddress } from '../data/address.ts';
import { contractPages, contractsRequest, type Holding, type RequestError, type State } from '../data/api.ts';
import { unitsOf } from '../data/decimal.ts';
import { AnswerCard } from '../parts/card.tsx';
import { amountColumn, type Column, Pager, Table, usePages } from '../parts/table.tsx';
import { Id, Time } from '../parts/values.tsx';

/** A coin as text. Its arguments come from the feed, so any of them may be missing. */
interface Coin {
  readonly contract_id: string;
  readonly created_at: string;
  readonly locked: boolean;
  readonly amount: string;
  readonly rate_per_round: string;
  readonly created_round: string;
  /** Empty of a coin that is not locked. */
  readonly expires_at: string;
  readonly lock_holders: string;
  readonly lock_context: string;
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
    expires_at: textAt(create_arguments, 'lock', 'expiresAt'),
    lock_holders: textAt(create_arguments, 'lock', 'holders').replaceAll(',', ' '),
    lock_context: textAt(create_arguments, 'lock', 'optContext'),
  };
}

function textAt(value: unknown, ...names: readonly string[]): string {
  let found = value;
  for (const name of names) found = (found as Readonly<Record<string, unknown>> | undefined)?.[name];
  return found === undefined || found === null ? '' : String(found);
}

type Field = 'created_at' | 'amount';

/** As many contracts can be ordered here; of more there are pages, in the order of their creation. */
const SORTED_MAX = 1000;
const AMOUNT = /^-?\d+\.\d{10}$/;

/** The coins in the order that the address names; those of a malformed amount come last. */
function ordered(coins: readonly Coin[], by: Field): readonly Coin[] {
  if (by === 'created_at') return coins;
  const units = ({ amount }: Coin): bigint => (AMOUNT.test(amount) ? unitsOf(amount) : -1n);
  return coins.toSorted((a, b) => (units(b) > units(a) ? 1 : units(b) < units(a) ? -1 : 0));
}

function columnsOf(by: Field | null, isWhole: boolean): readonly Column<Coin>[] {
  const sort = (field: Field): Column<Coin>['sort'] => ({
    order: field !== by ? null : field === 'amount' ? 'descending' : 'ascending',
    choose: () => changeQuery({ sort: field === 'amount' ? field : undefined, contracts: undefined }, { state: null }),
  });
  return [
    {
      name: 'Created',
      cell: ({ created_at }) => <Time of={created_at} precise />,
      ...(isWhole && { sort: sort('created_at') }),
      narrow: 'sub',
    },
    {
      name: 'Coin',
      cell: ({ locked }) => (
        <span class={`tag ${locked ? 'locked' : 'unlocked'}`}>{locked ? 'locked' : 'unlocked'}</span>
      ),
      narrow: 'head',
    },
    amountColumn('Amount', ({ amount }) => amount, { narrow: 'value', ...(isWhole && { sort: sort('amount')! }) }),
    {
      name: 'Unlocks',
      cell: ({ expires_at }) => (expires_at === '' ? '–' : <Time of={expires_at} precise />),
      narrow: 'aside',
    },
    amountColumn('Fee per round', ({ rate_per_round }) => rate_per_round),
    { name: 'Created in round', number: true, cell: ({ created_round }) => created_round },
    { name: 'Contract', cell: ({ contract_id }) => <Id of={contract_id} what="the contract id" /> },
  ];
}

/** The contracts of a party. */
export function ContractsCard({ holding }: { readonly holding: Holding }): JSX.Element {
  const { query } = useAddress();
  const pages = usePages('contracts');
  const by: Field = query.get('sort') === 'amount' ? 'amount' : 'created_at';
  return (
    <AnswerCard
      title="Contracts"
      request={contractsRequest(holding, SORTED_MAX)}
      saved={<Download key={JSON.stringify(holding)} holding={holding} />}
      lines={pages.size}
    >
      {({ created_events, next_page_token }) => {
        const isWhole = next_page_token === null;
        const coins = ordered(created_events.map(coinOf), isWhole ? by : 'created_at');
        const first = (pages.number - 1) * pages.size;
        const rows = coins.slice(first, first + pages.size);
        return (
          <>
            {!isWhole && (
              <p class="note">
                The first {SORTED_MAX} contracts in the order of their creation. The CSV has all of them.
              </p>
            )}
            <Table
              caption="Coin contracts"
              columns={columnsOf(by, isWhole)}
              rows={rows}
              keyOf={({ contract_id }) => contract_id}
              empty="This party had no active contract at this snapshot."
            />
            <Pager
              pages={pages}
              next={first + pages.size < coins.length ? String(first + pages.size) : null}
              count={rows.length}
              total={isWhole ? coins.length : undefined}
              what="contracts"
            />
          </>
        );
      }}
    </AnswerCard>
  );
}

/** The contract that the address names, of the owner at the snapshot that is shown. */
export function ContractCard({ holding, id }: { readonly holding: Holding; readonly id: string }): JSX.Element {
  return (
    <AnswerCard
      title="Contract"
      request={contractsRequest(holding, SORTED_MAX)}
      aside={
        <button type="button" class="tool" onClick={() => changeQuery({ contract: undefined })}>
          Close
        </button>
      }
      lines={2}
    >
      {({ created_events, next_page_token }) => (
        <Table
          caption="The contract of the address"
          columns={columnsOf(null, false)}
          rows={created_events.filter(({ contract_id }) => contract_id === id).map(coinOf)}
          keyOf={({ contract_id }) => contract_id}
          empty={`It is not among ${next_page_token === null ? 'the' : `the first ${SORTED_MAX}`} contracts of this party at this snapshot.`}
        />
      )}
    </AnswerCard>
  );
}

const CSV_FIELDS = [
  ...(['contract_id', 'created_at', 'locked', 'amount', 'rate_per_round', 'created_round'] as const),
  ...(['expires_at', 'lock_holders', 'lock_context'] as const),
];
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
  for await (const page of contractPages(holding, { pageSize: DOWNLOAD_PAGE, signal })) {
    for (const coin of page.created_events.map(coinOf))
      lines.push(`${CSV_FIELDS.map((field) => csvField(coin[field])).join(',')}\r\n`);
    if (lines.length > ROWS_MAX) throw new Error(`More than ${ROWS_MAX} contracts: use the curl command.`);
    progress(lines.length - 1);
  }
  return lines;
}

function csvField(value: unknown): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(lines: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob(lines as string[], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(':', '');
  link.click();
  URL.revokeObjectURL(url);
}
