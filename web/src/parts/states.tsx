import type { ComponentChildren, JSX } from 'preact';
import type { Asked } from '../data/use-answer.ts';

/** What takes the place of an answer that is not there, and the answer where it is. */
export function Answered<Answer>({
  asked,
  lines,
  children,
}: {
  readonly asked: Asked<Answer>;
  /** About how high the answer will be, so that the page does not jump. */
  readonly lines: number;
  readonly children: (answer: Answer) => ComponentChildren;
}): JSX.Element {
  const { answer, error, again } = asked;
  if (answer !== null)
    return (
      <>
        {error !== null && <p class="stale">Not refreshed: {error.message}</p>}
        {children(answer)}
      </>
    );
  return error === null ? <Loading lines={lines} /> : <Failure message={error.message} again={again} />;
}

function Loading({ lines }: { readonly lines: number }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <span class="bone" key={line} />
      ))}
    </div>
  );
}

function Failure({ message, again }: { readonly message: string; readonly again: () => void }): JSX.Element {
  return (
    <div class="note failure" role="alert">
      <p>{message}</p>
      <button type="button" class="tool" onClick={again}>
        Try again
      </button>
    </div>
  );
}

/** Nothing to show, which is an answer too. */
export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="note">{children}</div>;
}
