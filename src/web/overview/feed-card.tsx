import type { JSX } from 'preact';
import type { Status } from '../data/answers.ts';
import { linkTo } from '../data/place.ts';
import { statusRequest } from '../data/requests.ts';
import type { Live } from '../data/stream.ts';
import { showSpan } from '../data/time.ts';
import type { Asked } from '../data/use-answer.ts';
import { Card } from '../parts/card.tsx';
import { Figure } from '../parts/figure.tsx';
import { Answered } from '../parts/states.tsx';

const PHASES: Readonly<Record<string, readonly [said: string, tone: string]>> = {
  starting: ['Starting', 'calm'],
  reading: ['Reading: behind its source', 'busy'],
  caught_up: ['Caught up', 'good'],
  halted: ['Halted', 'bad'],
  stopping: ['Stopping', 'calm'],
  stopped: ['Stopped', 'calm'],
  retrying: ['Unavailable: trying again', 'bad'],
  refused: ['Refused', 'bad'],
  waiting_for_clock: ['Waiting for the clock', 'bad'],
  read_only: ['Only reads what another process writes', 'good'],
};

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
  const phase = live.status?.phase ?? status.phase;
  const [said, tone] = PHASES[phase] ?? [phase, 'calm'];
  const updates = live.status?.updates ?? status.counts?.updates;
  const letters = Object.entries(status.dead_letters).filter(([, count]) => count > 0);
  const halted = live.status?.halted ?? null;
  return (
    <>
      <p class={`phase ${tone}`}>
        <span class="dot" aria-hidden="true" />
        {said}
      </p>
      {halted !== null && (
        <div class="note failure" role="alert">
          <p>
            <b>{halted.reason}</b>
          </p>
          <p class="wrap">{halted.place}</p>
        </div>
      )}
      {live.status?.degraded.map((line) => (
        <p class="note warning" key={line}>
          {line}
        </p>
      ))}
      <dl class="facts">
        <Figure name="Source">{status.source?.name ?? 'none'}</Figure>
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
  if (status === null || status.lag_seconds === null) return '–';
  return status.lag_seconds < 1 ? 'none' : showSpan(status.lag_seconds);
}
