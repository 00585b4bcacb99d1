/**
 * What the caller can fix: a wrong option, a bad setting, a directory that another process uses. The command line
 * prints the message as one line on standard error, without a stack, and exits with 2; so it says what is wrong and
 * how to fix it.
 */
export class Refusal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Refusal';
  }
}

/** A Refusal that may pass by itself: at its start `serve` waits for that. */
export class PassingRefusal extends Refusal {}
