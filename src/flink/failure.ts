/** A server of Flink gave no answer, or refused: one line that a person can use, without a secret. */
export class FlinkFailure extends Error {
  /** Of the answer; null where there was none. */
  readonly status: number | null;

  constructor(message: string, about: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: about.cause });
    this.name = 'FlinkFailure';
    this.status = about.status ?? null;
  }
}

const CAUSE_CHARS_MAX = 500;
/** Shorter ones would be found in ordinary words. */
const SECRET_CHARS_MIN = 4;

/** What a stack of Java's exceptions ends in: the last cause, without its class where it has a message. */
export function rootCause(stack: string): string {
  const last = stack
    .split(/^Caused by: /m)
    .at(-1)!
    .trim();
  const [said = ''] = last.split(/\n\s*(?:at |\.\.\. \d+ more|Suppressed: )/);
  const words = said.replaceAll(/\s+/g, ' ').trim();
  const [, message] = /^(?:[\w$]+\.)+[\w$]+: (.+)$/.exec(words) ?? [];
  const cause = message ?? words;
  return cause.length > CAUSE_CHARS_MAX ? `${cause.slice(0, CAUSE_CHARS_MAX)} ...` : cause;
}

/** Takes secrets out of a text, as they are and as they stand in SQL. */
export function redacted(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, secret.replaceAll("'", "''"), secret.replaceAll(/\s+/g, ' ')]);
  const long = forms.filter((form) => form.length >= SECRET_CHARS_MIN).sort((a, b) => b.length - a.length);
  return long.reduce((rest, form) => rest.replaceAll(form, '***'), text);
}
