import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Here } from '../data/answers.ts';
import { goTo, ownerLink } from '../data/place.ts';
import { fieldOf, timeOfField } from '../data/time.ts';

interface Props {
  readonly party: string;
  readonly at: string | null;
  readonly round: string | undefined;
  readonly here: Here;
}

/** Chooses the snapshot and the round of what is shown; left empty they are the newest and the lowest open one. */
export function MomentForm({ party, at, round, here }: Props): JSX.Element {
  const [time, setTime] = useState(at === null ? '' : fieldOf(at));
  const [asOf, setAsOf] = useState(round ?? '');
  const show = (query: { at?: string | undefined; round?: string | undefined }): void =>
    goTo(ownerLink(party, { migration: here.migration, ...query }));
  return (
    <form
      class="moment"
      onSubmit={(event) => {
        event.preventDefault();
        show({ at: time === '' ? undefined : timeOfField(time), round: asOf === '' ? undefined : asOf });
      }}
    >
      <label>
        <span>At (UTC)</span>
        <input
          type="datetime-local"
          step="1"
          value={time}
          max={fieldOf(here.newest.record_time)}
          onInput={({ currentTarget }) => setTime(currentTarget.value)}
        />
      </label>
      <label>
        <span>Fees as of round</span>
        <input
          type="text"
          inputMode="numeric"
          pattern="-?[0-9]{1,19}"
          title="A whole number"
          placeholder="lowest open"
          value={asOf}
          onInput={({ currentTarget }) => setAsOf(currentTarget.value.trim())}
        />
      </label>
      <button type="submit" class="tool main">
        Show
      </button>
      {(at !== null || round !== undefined) && (
        <button type="button" class="tool" onClick={() => show({})}>
          Now
        </button>
      )}
    </form>
  );
}
