import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { linkTo } from '../data/place.ts';
import { statusRequest } from '../data/requests.ts';
import { serviceState } from '../data/service-state.ts';
import type { Live } from '../data/stream.ts';
import { showSpan } from '../data/time.ts';
import type { Asked } from '../data/use-answer.ts';
import { Card } from '../parts/card.tsx';
import { Figure } from '../parts/figure.tsx';
import { Answered } from '../parts/states.tsx';

/** What the feed is doing: the stream says it as it changes, /status the rest. */
export function FeedCard({ live, status }: { readonly live: Live; readonly status: Asked<Status> }): JSX.Element {
  return (
    <Card title="Feed" requests={[statusRequest, { url: linkTo('holdfast/v1/stream') }]}>
      <Answered asked={status} lines={5}>
        {(answer) => <Feed live={live} status={answer} />}
      </Answered>
    </Card>
  );
}

function Feed({ live, status }: { readonly live: Live; readonly status: Status }): JSX.Element {
  const { tone, text, reasons } = serviceState(live, status);
  const updates = live.status?.updates ?? status.counts?.updates;
  const letters = Object.entries(status.dead_letters).filter(([, count]) => count > 0);
  const halted = live.status?.halted ?? null;
  const errors = status.source?.network?.errors_in_a_row ?? 0;
  return (
    <>
      <p class={`phase ${tone}`}>
        <span class="dot" aria-hidden="true" />
        {text}
      </p>
      {halted !== null && (
        <div class="note failure wrap" role="alert">
          <p>
            <b>{halted.reason}</b>
          </p>
          <p>{halted.place}</p>
          {status.halted && <p>To continue: {status.halted.next}</p>}
        </div>
      )}
      {[...(halted === null ? reasons : []), ...(live.status?.degraded ?? [])].map((line) => (
        <p class="note warning wrap" key={line}>
          {line}
        </p>
      ))}
      <dl class="facts">
        <Figure name="Source">{status.source?.name ?? 'none'}</Figure>
        {errors > 0 && <Figure name="Consecutive errors">{String(errors)}</Figure>}
        <Figure name="Lag">{lagText(live)}</Figure>
        <Figure name="Updates a second">{live.rate === null ? '–' : Math.round(live.rate)}</Figure>
        <Figure name="Updates since the start">{updates === undefined ? '–' : String(updates)}</Figure>
        <Figure name="Dead letters">
          {letters.length === 0 ? 'none' : letters.map(([kind, count]) => `${count} ${kind}`).join(', ')}
        </Figure>
      </dl>
    </>
  );
}

function lagText({ status }: Live): string {
  if (status === null || status.lag_seconds === null || status.source === null) return '–';
  return status.lag_seconds < 1 ? 'none' : showSpan(status.lag_seconds);
}
