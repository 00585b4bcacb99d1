import type { JSX } from 'preact';

/** One of a few things, all of them in view. */
export function Choice<Name extends string>({
  label,
  of,
  value,
  choose,
}: {
  readonly label: string;
  readonly of: Readonly<Record<Name, string>>;
  readonly value: Name;
  readonly choose: (name: Name) => void;
}): JSX.Element {
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
