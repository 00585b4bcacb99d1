import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useTyped } from '../data/hooks.ts';
import { parseMoment, showTime } from '../data/time.ts';
import { Icon } from './values.tsx';

interface Props {
  readonly label: string;
  /** Null: none was chosen. */
  readonly value: string | null;
  readonly newest: string;
  readonly placeholder?: string;
  /** Called with undefined when the field is emptied. */
  readonly choose: (time: string | undefined) => void;
}

const EXPECTED = 'A time in UTC such as 2025-02-12 00:30, a date, or -7d';

/** A time in UTC, typed or chosen from the calendar of the browser. */
export function TimeField({ label, value, newest, placeholder = '', choose }: Props): JSX.Element {
  const calendar = useRef<HTMLInputElement>(null);
  const text = value === null ? '' : showTime(value);
  const [typed, type] = useTyped(text);
  const take = (field: HTMLInputElement): void => {
    const time = parseMoment(field.value, newest);
    field.setCustomValidity(time === null && field.value !== '' ? EXPECTED : '');
    if (field.reportValidity() && field.value !== text) choose(time ?? undefined);
  };
  return (
    <div class="time-field">
      <label>
        <span>{label}</span>
        <input
          type="text"
          class="time"
          title={EXPECTED}
          autocomplete="off"
          spellcheck={false}
          size={19}
          {...{ value: typed, placeholder }}
          onInput={({ currentTarget }) => {
            currentTarget.setCustomValidity('');
            type(currentTarget.value);
          }}
          onChange={({ currentTarget }) => take(currentTarget)}
        />
      </label>
      <button type="button" class="icon" title="Calendar" onClick={() => calendar.current!.showPicker()}>
        <Icon of="calendar" />
        <span class="hidden">{label}: calendar</span>
      </button>
      <input
        ref={calendar}
        type="date"
        class="day-picker"
        tabIndex={-1}
        aria-hidden="true"
        value={value?.slice(0, 10)}
        onChange={({ currentTarget: { value: day } }) => {
          if (day !== '') choose(`${day}T${value?.slice(11) ?? '00:00:00Z'}`);
        }}
      />
    </div>
  );
}
