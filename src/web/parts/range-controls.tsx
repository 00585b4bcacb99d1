import type { JSX } from 'preact';
import { SPANS, type Span } from '../data/range.ts';
import { fieldOf, timeOfField } from '../data/time.ts';
import { Choice } from './choice.tsx';
import type { ChartRange, Zoom } from './use-range.ts';

export function RangeControls({
  zoom,
  range,
  change,
}: {
  readonly zoom: Zoom;
  readonly range: ChartRange;
  readonly change: (zoom: Zoom) => void;
}): JSX.Element {
  const { span } = zoom;
  const { from, to, every, steps } = range;
  return (
    <div class="range">
      <Choice
        label="Range"
        of={SPANS}
        value={typeof span === 'object' ? ('' as Span) : span}
        choose={(name) => change({ ...zoom, span: name })}
      />
      <TimeField name="From" value={from} change={(chosen) => change({ ...zoom, span: { from: chosen, to } })} />
      <TimeField name="To" value={to} change={(chosen) => change({ ...zoom, span: { from, to: chosen } })} />
      <label>
        <span>Step</span>
        <select value={every} onChange={({ currentTarget }) => change({ ...zoom, every: currentTarget.value })}>
          {steps.map((step) => (
            <option key={step}>{step}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

function TimeField({
  name,
  value,
  change,
}: {
  readonly name: string;
  readonly value: string;
  readonly change: (time: string) => void;
}): JSX.Element {
  return (
    <label>
      <span>{name} (UTC)</span>
      <input
        type="datetime-local"
        value={fieldOf(value).slice(0, 16)}
        onChange={({ currentTarget }) => currentTarget.value !== '' && change(timeOfField(currentTarget.value))}
      />
    </label>
  );
}
