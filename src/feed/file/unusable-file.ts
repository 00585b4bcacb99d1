import { Refusal } from '../../refusal.ts';

/** A feed file that cannot be a source at all: the command line says so in one line and exits with 2. */
export class UnusableFile extends Refusal {
  readonly path: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(`feed file ${path} ${reason}`, { cause });
    this.name = 'UnusableFile';
    this.path = path;
  }
}
