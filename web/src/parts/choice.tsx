import type { JSX } from 'preact';

interface Props<Name extends string> {
  readonly label: string;
  readonly of: Readonly<Record<Name, string>>;
  readonly value: Name;
  readonly choose: (name: Name) => void;
}

/** One of a few things, all of them in view. */
export function Choice<Name extends string>({ label, of, value, choose }: Props<Name>): JSX.Element {
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {(Object.entries(of) as [Name, string][]).map(([name, said]) => (
        <button type="button" key={name} aria-pressed={name === value} onClick={() => choose(name)}>
          {said}
        </button>
      ))}
    </fieldset>
  );
}
