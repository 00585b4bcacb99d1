import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type ApiRequest, COMMANDS } from '../data/api.ts';
import { type Asked, useAnswer } from '../data/hooks.ts';
import { CopyButton, Icon } from './values.tsx';

interface Head {
  readonly title: string;
  readonly csv?: ApiRequest<unknown> | null;
  /** Another way to save the rows. */
  readonly saved?: ComponentChildren;
  /** Controls beside the heading. */
  readonly aside?: ComponentChildren;
}

interface CardProps extends Head {
  readonly requests: readonly (ApiRequest<unknown> | null)[];
  readonly busy?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

const LANGUAGES = { curl: 'curl', JavaScript: 'JavaScript', Python: 'Python' } as const;

/** A part of a page with its heading, its requests as curl commands, and its rows as CSV. */
export function Card({
  title,
  requests,
  csv,
  saved,
  aside,
  busy = false,
  class: own = '',
  children,
}: CardProps): JSX.Element {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [language, setLanguage] = useState<keyof typeof COMMANDS>('curl');
  const asked = requests.filter((request) => request !== null);
  return (
    <section class={`card ${own}`} aria-labelledby={id} aria-busy={busy}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        <div class="card-tools">
          {aside}
          <button
            type="button"
            class="icon"
            title="Export"
            aria-expanded={open}
            aria-controls={`${id}-requests`}
            onClick={() => setOpen(!open)}
          >
            <Icon of="more" />
            <span class="hidden">Export “{title}”</span>
          </button>
        </div>
      </header>
      <div id={`${id}-requests`} class="requests" hidden={!open}>
        {open && (
          <>
            <div class="card-tools">
              {csv && (
                <a class="tool" href={csv.url} download>
                  CSV
                </a>
              )}
              {saved}
              <CopyButton text={location.href} what="the link to this page" label="Copy link" />
              <Choice label="Language" of={LANGUAGES} value={language} choose={setLanguage} />
            </div>
            {asked.map(COMMANDS[language]).map((command) => (
              <div class="command" key={command}>
                <code>{command}</code>
                <CopyButton text={command} what="the command" />
              </div>
            ))}
          </>
        )}
      </div>
      {children}
    </section>
  );
}

interface AnswerCardProps<Answer> extends Head {
  /** Null: nothing to ask yet. */
  readonly request: ApiRequest<Answer> | null;
  /** Further requests, shown as curl commands. */
  readonly others?: readonly ApiRequest<unknown>[] | undefined;
  /** When it changes, the request is sent again. */
  readonly refresh?: unknown;
  readonly class?: string;
  /** About the height of the answer. */
  readonly lines: number;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** A wide card that shows the answer to one request. */
export function AnswerCard<Answer>(props: AnswerCardProps<Answer>): JSX.Element {
  const { request, others = [], refresh, lines, children, class: own = 'wide', ...head } = props;
  const asked = useAnswer(request, refresh);
  return (
    <Card {...head} class={own} requests={[request, ...others]} busy={asked.busy}>
      <Answered asked={asked} lines={lines}>
        {children}
      </Answered>
    </Card>
  );
}

interface AnsweredProps<Answer> {
  readonly asked: Asked<Answer>;
  /** About the height of the answer, so that the page does not jump. */
  readonly lines: number;
  /** Of the cards around the placeholders, where the answer has its own. */
  readonly titles?: readonly string[];
  readonly children: (answer: Answer) => ComponentChildren;
}

/** The answer, or placeholders while it is loaded, or the error. */
export function Answered<Answer>({ asked, lines, titles = [], children }: AnsweredProps<Answer>): JSX.Element {
  const { answer, error, retry } = asked;
  if (answer !== null)
    return (
      <>
        {error !== null && <p class="stale">Last refresh failed: {error.message}</p>}
        {children(answer)}
      </>
    );
  if (error !== null)
    return (
      <div class="note failure" role="alert">
        <p>{error.message}</p>
        <button type="button" class="tool" onClick={retry}>
          Try again
        </button>
      </div>
    );
  const bones = (
    <div class="loading">
      {Array.from({ length: lines }, (_, line) => (
        <span class="bone" key={line} />
      ))}
    </div>
  );
  return (
    <div role="status" class={titles.length > 0 ? 'grid' : ''}>
      <span class="hidden">Loading</span>
      {titles.length === 0 && bones}
      {titles.map((title, card) => (
        // The first two of many are beside each other.
        <div class={`card ${card > 1 || titles.length < 3 ? 'wide' : ''}`} key={title}>
          <h2>{title}</h2>
          {bones}
        </div>
      ))}
    </div>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="note">{children}</div>;
}

interface ChoiceProps<Name extends string> {
  readonly label: string;
  readonly of: Readonly<Record<Name, string>>;
  readonly value: Name | null;
  readonly choose: (name: Name) => void;
}

/** A row of buttons of which at most one is pressed. */
export function Choice<Name extends string>({ label, of, value, choose }: ChoiceProps<Name>): JSX.Element {
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {(Object.entries(of) as [Name, string][]).map(([name, text]) => (
        <button type="button" key={name} aria-pressed={name === value} onClick={() => choose(name)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
