import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

/** Where a reader is among the pages of one question. */
export interface Pages<Token> {
  /** What the page shown begins after; undefined for the first. */
  readonly after: Token | undefined;
  readonly number: number;
  readonly forth: (next: Token) => void;
  readonly back: () => void;
}

/** Begins again at the first page whenever the question is another one. */
export function usePages<Token = string>(question: string): Pages<Token> {
  const [state, setState] = useState<{ question: string; tokens: readonly Token[] }>({ question, tokens: [] });
  const tokens = state.question === question ? state.tokens : [];
  return {
    after: tokens.at(-1),
    number: tokens.length + 1,
    forth: (next) => setState({ question, tokens: [...tokens, next] }),
    back: () => setState({ question, tokens: tokens.slice(0, -1) }),
  };
}

export function Pager<Token>({
  pages,
  next,
  what = '',
}: {
  readonly pages: Pages<Token>;
  readonly next: Token | null;
  readonly what?: string;
}): JSX.Element | null {
  if (pages.number === 1 && next === null) return null;
  return (
    <div class="pager">
      <button type="button" class="tool" disabled={pages.number === 1} onClick={pages.back}>
        ← Back
      </button>
      <span class="faint" aria-live="polite">
        Page {pages.number} {what}
      </span>
      <button type="button" class="tool" disabled={next === null} onClick={() => next !== null && pages.forth(next)}>
        Next →
      </button>
    </div>
  );
}
