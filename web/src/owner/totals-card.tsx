import type { ComponentChildren, JSX } from 'preact';
import type { SummaryV0 } from '../data/answers.ts';
import { feesRequest, type Holding, totalsRequest } from '../data/requests.ts';
import { type Asked, useAnswer } from '../data/use-answer.ts';
import { Card } from '../parts/card.tsx';
import { Figure } from '../parts/figure.tsx';
import { Answered } from '../parts/states.tsx';
import { Time } from '../parts/time.tsx';

const NONE = '0.0000000000';

interface Props {
  readonly holding: Holding;
  readonly round: string | undefined;
  /** Whether the reader chose the snapshot. */
  readonly pinned: boolean;
  /** The form that chooses it. */
  readonly children: ComponentChildren;
}

/** Totals and fees at a snapshot. Totals need no round, and are shown also where no round is known for the fees. */
export function TotalsCard({ holding, round, pinned, children }: Props): JSX.Element {
  const [ofTotals, ofFees] = [totalsRequest(holding), feesRequest(holding, round)];
  const totals = useAnswer(ofTotals);
  const fees = useAnswer(ofFees);
  return (
    <Card
      title={pinned ? 'Holdings then' : 'Holdings now'}
      class="wide"
      requests={[ofTotals, ofFees]}
      busy={totals.busy || fees.busy}
      aside={children}
    >
      <Answered asked={totals} lines={4}>
        {({ record_time, summaries: [summary] }) => {
          const total = summary?.total_coin_holdings ?? NONE;
          return (
            <>
              <p class="faint">
                At the snapshot of <Time of={record_time} />
              </p>
              {total === NONE && <p class="note">This party has no coin at this snapshot.</p>}
              <dl class="figures">
                <Figure name="All coin" large amount={total} />
                <Figure name="Unlocked" swatch="unlocked" amount={summary?.total_unlocked_coin ?? NONE} />
                <Figure name="Locked" swatch="locked" amount={summary?.total_locked_coin ?? NONE} />
              </dl>
            </>
          );
        }}
      </Answered>
      <Fees asked={fees} />
    </Card>
  );
}

function Fees({ asked }: { readonly asked: Asked<SummaryV0> }): JSX.Element {
  if (asked.error !== null && !asked.error.passes) return <p class="note">No fees: {asked.error.message}</p>;
  return (
    <Answered asked={asked} lines={2}>
      {({ computed_as_of_round, summaries: [summary] }) => (
        <>
          <h3>Holding fees as of round {String(computed_as_of_round)}</h3>
          <dl class="figures small">
            <Figure name="Of unlocked coin" amount={summary?.accumulated_holding_fees_unlocked ?? NONE} />
            <Figure name="Of locked coin" amount={summary?.accumulated_holding_fees_locked ?? NONE} />
            <Figure name="All fees" amount={summary?.accumulated_holding_fees_total ?? NONE} />
            <Figure name="Available: unlocked less its fees" amount={summary?.total_available_coin ?? NONE} />
          </dl>
        </>
      )}
    </Answered>
  );
}
