import type { JSX } from 'preact';
import type { Status } from '../data/api.ts';
import { useNow } from '../data/hooks.ts';
import { type Live, serviceState } from '../data/stream.ts';
import { ageOf, showSpan } from '../data/time.ts';
import { CopyButton } from './values.tsx';

const AGE_INTERVAL_MS = 1_000;

interface Props {
  readonly live: Live;
  readonly status: Status | null;
  /** The time of the newest snapshot. */
  readonly newest: string | undefined;
}

/** The state of the service in the header. Screen readers do not announce the age, which changes every second. */
export function StatePill({ live, status, newest }: Props): JSX.Element {
  const now = useNow(AGE_INTERVAL_MS);
  const { tone, text, isStored } = serviceState(live, status);
  return (
    <p class={`state ${tone}`}>
      <span class="dot" aria-hidden="true" />
      <span role={tone === 'good' ? undefined : 'status'}>{text}</span>
      {isStored && newest !== undefined && ` · newest snapshot ${ageOf(newest, now)}`}
    </p>
  );
}

/** On every page, while something is wrong: what, since when, and the command that helps. */
export function Banner({ live, status }: Omit<Props, 'newest'>): JSX.Element | null {
  const now = useNow(AGE_INTERVAL_MS);
  const { tone, text, reasons } = serviceState(live, status);
  const degraded = live.status?.degraded ?? [];
  const isWrong = reasons.length > 0 && (tone === 'bad' || tone === 'busy');
  if (live.connection === 'lost' || (!isWrong && degraded.length === 0)) return null;
  const halted = live.status?.halted ?? null;
  const { errors_in_a_row: errors = 0, next_attempt_at: next = null } = status?.source?.network ?? {};
  const left = next === null ? 0 : (Date.parse(next) - now) / 1000;
  return (
    <section class={`banner ${isWrong ? tone : 'busy'}`} aria-label="What is wrong">
      <p class="banner-title">{isWrong ? text : 'Ready, with warnings'}</p>
      {(isWrong ? reasons : degraded).map((line) => (
        <p key={line}>{line}</p>
      ))}
      {halted !== null && <p class="faint">{halted.location}</p>}
      {halted !== null && status?.halted && <p>To continue: {status.halted.next.replaceAll('`', '')}</p>}
      {errors > 0 && (
        <p>
          {errors} consecutive {errors === 1 ? 'error' : 'errors'}.
          {next !== null && ` Next attempt ${left < 1 ? 'now' : `in ${showSpan(left)}`}.`}
        </p>
      )}
      {commandsOf(status).map((command) => (
        <Command key={command} text={command} />
      ))}
    </section>
  );
}

function commandsOf(status: Status | null): readonly string[] {
  if (status?.halted) return [...status.halted.next.matchAll(/`([^`]+)`/g)].map(([, command]) => command!);
  const [, scan] = /^Scan (\S+)/.exec(status?.source?.name ?? '') ?? [];
  return [scan === undefined ? `holdfast status --url ${location.origin}` : `holdfast doctor --scan ${scan}`];
}

export function Command({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} what="the command" />
    </div>
  );
}
