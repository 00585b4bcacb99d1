import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type ApiRequest, curlOf } from '../data/ask.ts';
import { useAnswer } from '../data/use-answer.ts';
import { CopyButton } from './copy-button.tsx';
import { Answered } from './states.tsx';

interface Head {
  readonly title: string;
  readonly csv?: ApiRequest<unknown> | null;
  /** Controls behind the heading. */
  readonly aside?: ComponentChildren;
}

interface CardProps extends Head {
  readonly requests: readonly (ApiRequest<unknown> | null)[];
  readonly busy?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A part of a page with its heading, the requests that gave what it shows, and its rows as CSV. */
export function Card({ title, requests, csv, aside, busy = false, class: own = '', children }: CardProps): JSX.Element {
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
            <a class="tool" href={csv.url} download>
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

interface AnswerCardProps<Answer> extends Head {
  /** Null: nothing to ask yet. */
  readonly request: ApiRequest<Answer> | null;
  /** The requests of what it shows besides. */
  readonly others?: readonly ApiRequest<unknown>[] | undefined;
  /** When it changes, the request is sent again. */
  readonly refresh?: unknown;
  /** About how high the answer will be. */
  readonly lines: number;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** A wide card that shows the answer to one request. */
export function AnswerCard<Answer>(props: AnswerCardProps<Answer>): JSX.Element {
  const { request, others = [], refresh, lines, children, ...head } = props;
  const asked = useAnswer(request, refresh);
  return (
    <Card {...head} class="wide" requests={[request, ...others]} busy={asked.busy}>
      <Answered asked={asked} lines={lines}>
        {children}
      </Answered>
    </Card>
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
