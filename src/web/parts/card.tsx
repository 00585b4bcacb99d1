import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type ApiRequest, curlOf, urlOf } from '../data/ask.ts';
import { CopyButton } from './copy-button.tsx';

/** A part of a page with its heading, the requests that gave what it shows, and its rows as CSV. */
export function Card({
  title,
  requests,
  csv,
  aside,
  busy = false,
  class: own = '',
  children,
}: {
  readonly title: string;
  readonly requests: readonly (ApiRequest<unknown> | null)[];
  readonly csv?: ApiRequest<unknown> | null;
  /** Controls behind the heading. */
  readonly aside?: ComponentChildren;
  readonly busy?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  const [open, setOpen] = useState(false);
  const sent = requests.filter((request) => request !== null);
  return (
    <section class={`card ${own}`} aria-labelledby={id} aria-busy={busy}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        <div class="card-tools">
          {aside}
          {csv && (
            <a class="tool" href={urlOf(csv)} download>
              CSV
            </a>
          )}
          <button
            type="button"
            class="tool"
            aria-expanded={open}
            aria-controls={`${id}-requests`}
            onClick={() => setOpen(!open)}
          >
            curl<span class="hidden">: the requests of “{title}”</span>
          </button>
        </div>
      </header>
      <div id={`${id}-requests`} class="requests" hidden={!open}>
        {open && sent.map((request) => <Command key={curlOf(request)} text={curlOf(request)} />)}
      </div>
      {children}
    </section>
  );
}

function Command({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} what="the command" />
    </div>
  );
}
