import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { changeQuery, useAddress } from '../data/address.ts';
import {
  changesRequest,
  feesRequest,
  type Holding,
  historyRequest,
  locksRequest,
  type Shown,
  type Status,
  type SummaryV0,
  topRequest,
  totalsRequest,
} from '../data/api.ts';
import { percentOfShare, subtract } from '../data/decimal.ts';
import { type Asked, useAnswer, usePaced, usePacedHere, useTyped } from '../data/hooks.ts';
import { useLabels } from '../data/labels.ts';
import type { Live } from '../data/stream.ts';
import { DAY_MS, instant, showTime } from '../data/time.ts';
import { Answered, Card } from '../parts/card.tsx';
import { ChartCard } from '../parts/chart-card.tsx';
import { Amount, CopyButton, Figure, partyParts, Time } from '../parts/values.tsx';
import { rememberOwner } from '../search.tsx';
import { ContractCard, ContractsCard } from './contracts.tsx';
import { LocksCard, MovementsCard, StatementCard } from './owner-tables.tsx';
import { OwnerInstrumentsCard } from './tokens.tsx';

const PACE_MS = 2_000;
const NONE = '0.0000000000';

interface OwnerProps {
  readonly party: string;
  readonly here: Shown;
  readonly live: Live;
  readonly status: Status | null;
}

/** The statement of one party. */
export function OwnerPage({ party, here, live, status }: OwnerProps): JSX.Element {
  const shown = usePacedHere(here, PACE_MS);
  const holding = { migration: shown.migration, time: shown.at ?? shown.newest.record_time, party };
  const contract = useAddress().query.get('contract');
  const changed = usePaced(live.ownerChange, PACE_MS);
  const { name, fingerprint } = partyParts(party);
  const label = useLabels()[party];
  useEffect(() => rememberOwner(party), [party]);
  return (
    <>
      <div class="party-head">
        <p class="party-name" aria-hidden="true">
          {label?.name ?? name} {label?.group !== undefined && <span class="tag">{label.group}</span>}
        </p>
        <p class="party-id">
          <code>
            {name}
            {fingerprint === '' ? '' : '::'}
            {fingerprint}
          </code>
          <CopyButton text={party} what="the party id" icon />
        </p>
      </div>
      <div class="grid">
        {contract !== null && <ContractCard holding={holding} id={contract} />}
        <TotalsCard
          holding={holding}
          hasRound={hasRound(status)}
          title={shown.at === null ? 'Holdings now' : `Holdings at ${showTime(shown.at)} UTC`}
        />
        <ChartCard
          title="Balance over time"
          here={shown}
          ask={(range) => historyRequest(party, range)}
          paged={false}
          refresh={changed}
          pointsOf={({ points }) => points}
        />
        {status?.tokens === 'on' && <OwnerInstrumentsCard {...{ party }} here={shown} />}
        <MovementsCard {...{ party, changed }} here={shown} />
        <LocksCard {...{ party }} here={shown} />
        <StatementCard {...{ party, changed }} migration={shown.migration} />
        <ContractsCard holding={holding} />
      </div>
    </>
  );
}

const SPANS = { '24 h': 1, '7 d': 7, '30 d': 30 } as const;

/** Whether the fees have a round of their own: a participant seldom shows open rounds. Null: not known yet. */
function hasRound(status: Status | null): boolean | null {
  if (status === null) return null;
  const { 'create OpenMiningRound': opened = 0 } = (status.counts?.events_by_kind ?? {}) as Record<string, number>;
  return opened > 0 || !status.source?.name.startsWith('Ledger API');
}

interface TotalsProps {
  readonly title: string;
  readonly holding: Holding;
  readonly hasRound: boolean | null;
}

/** Totals, what is worth knowing of them, and fees. Totals need no round, and are shown even if no round is known for the fees. */
function TotalsCard({ title, holding, hasRound }: TotalsProps): JSX.Element {
  const { migration, time, party } = holding;
  const { query } = useAddress();
  const round = query.get('round') ?? undefined;
  const at = { migration_id: migration, record_time: time };
  const [ofTotals, ofFees] = [totalsRequest(holding), feesRequest(holding, round)];
  const ofRank = topRequest({ ...at, contains: party, limit: 1 });
  const ofFirst = changesRequest(party, { migration_id: migration, order: 'asc', limit: 1 });
  const ofLocks = locksRequest(party, { ...at, limit: 100 });
  const isAsked = round !== undefined || hasRound === true;
  const [totals, fees] = [useAnswer(ofTotals), useAnswer(isAsked ? ofFees : null)];
  const rank = useAnswer(ofRank).answer?.owners.find(({ party_id }) => party_id === party);
  const first = useAnswer(ofFirst).answer?.changes[0];
  const unlock = useAnswer(ofLocks).answer?.locks.find(({ expired, expires_at }) => !expired && expires_at !== null);
  return (
    <Card
      title={title}
      class="wide"
      requests={[ofTotals, ofRank, ofFirst, ofLocks, ofFees]}
      busy={totals.busy || (isAsked && fees.busy)}
    >
      <Answered asked={totals} lines={4}>
        {({ record_time, summaries: [summary] }) => {
          const total = summary?.total_coin_holdings ?? NONE;
          return (
            <>
              <p class="faint">
                Snapshot of <Time of={record_time} />
              </p>
              {total === NONE && <p class="note">This party has no coin at this snapshot.</p>}
              <dl class="figures strip">
                <Figure name="Total" large amount={total} />
                <Figure name="Unlocked" swatch="unlocked" amount={summary?.total_unlocked_coin ?? NONE} />
                <Figure name="Locked" swatch="locked" amount={summary?.total_locked_coin ?? NONE} />
                <Figure name="Rank and share of the total">
                  {rank === undefined ? (
                    '–'
                  ) : (
                    <span title={rank.share}>
                      # {rank.rank} <span class="faint">{percentOfShare(rank.share)} %</span>
                    </span>
                  )}
                </Figure>
                {Object.entries(SPANS).map(([span, days]) => (
                  <ChangeFigure
                    key={span}
                    span={span}
                    days={days}
                    holding={{ ...holding, time: record_time }}
                    total={total}
                    first={first?.record_time}
                  />
                ))}
                <Figure name="First seen">{first === undefined ? '–' : <Time of={first.record_time} />}</Figure>
                <Figure name="Next unlock">
                  {unlock === undefined ? (
                    'none'
                  ) : (
                    <>
                      <Time of={unlock.expires_at!} /> <Amount of={unlock.amount} unit />
                    </>
                  )}
                </Figure>
              </dl>
            </>
          );
        }}
      </Answered>
      <Fees asked={fees} round={round} isUnknown={!isAsked && hasRound === false} />
    </Card>
  );
}

interface ChangeProps {
  readonly span: string;
  readonly days: number;
  readonly holding: Holding;
  readonly total: string;
  /** The time of the first snapshot in which the party had coin; before it there may be no snapshot to compare with. */
  readonly first: string | undefined;
}

/** The change of the total since the newest snapshot at or before a time. */
function ChangeFigure({ span, days, holding, total, first }: ChangeProps): JSX.Element {
  const since = instant(Date.parse(holding.time) - days * DAY_MS);
  const isKnown = first !== undefined && Date.parse(since) >= Date.parse(first);
  const { answer, error } = useAnswer(isKnown ? totalsRequest({ ...holding, time: since }) : null);
  const before = isKnown && error === null ? answer?.summaries[0]?.total_coin_holdings : undefined;
  return (
    <Figure name={`Change in ${span}`}>
      {before === undefined ? (
        <span title={error?.message}>–</span>
      ) : (
        <span title={`since ${showTime(answer!.record_time)} UTC`}>
          <Amount of={subtract(total, before)} gain unit />
        </span>
      )}
    </Figure>
  );
}

interface FeesProps {
  readonly asked: Asked<SummaryV0>;
  readonly round: string | undefined;
  /** Whether no round is known to compute them with. */
  readonly isUnknown: boolean;
}

function Fees({ asked, round, isUnknown }: FeesProps): JSX.Element {
  const [typed, type] = useTyped(round ?? '');
  return (
    <>
      <div class="fees">
        <h3>Holding fees {asked.answer && `as of round ${asked.answer.computed_as_of_round}`}</h3>
        <form class="moment" onSubmit={(event) => event.preventDefault()}>
          <label>
            <span>As of round</span>
            <input
              type="text"
              inputMode="numeric"
              pattern="-?[0-9]{1,19}"
              title="A whole number"
              placeholder="lowest open"
              size={12}
              value={typed}
              onInput={({ currentTarget }) => type(currentTarget.value)}
              onChange={({ currentTarget }) =>
                currentTarget.reportValidity() && changeQuery({ round: currentTarget.value.trim() || undefined })
              }
            />
          </label>
        </form>
      </div>
      {isUnknown ? (
        <p class="note">No open mining round is known: give one to see the fees.</p>
      ) : asked.error !== null && !asked.error.isTemporary ? (
        <p class="note">No fees: {asked.error.message}</p>
      ) : (
        <Answered asked={asked} lines={2}>
          {({ summaries: [summary] }) => (
            <>
              {summary?.accumulated_holding_fees_total.startsWith('-') && (
                <p class="faint">
                  Round {asked.answer?.computed_as_of_round} is before coins of this party were made: their fees count
                  as negative, as a Scan answers.
                </p>
              )}
              <dl class="figures small">
                <Figure name="On unlocked" amount={summary?.accumulated_holding_fees_unlocked ?? NONE} />
                <Figure name="On locked" amount={summary?.accumulated_holding_fees_locked ?? NONE} />
                <Figure name="Total fees" amount={summary?.accumulated_holding_fees_total ?? NONE} />
                <Figure name="Available (unlocked minus its fees)" amount={summary?.total_available_coin ?? NONE} />
              </dl>
            </>
          )}
        </Answered>
      )}
    </>
  );
}
