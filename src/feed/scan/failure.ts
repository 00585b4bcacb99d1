import { AnswerFailure } from '../network/failure.ts';

/** A Scan did not answer as it should; the message says which one and what it said. */
export class ScanFailure extends AnswerFailure {
  /** A smaller page may be answered. */
  readonly isTooMuch: boolean;
  /** The largest page that the Scan gives, where it said so. */
  readonly pageSizeMax: number | null;
  /** To ask again changes nothing, whatever its status. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    about: Partial<Pick<ScanFailure, 'status' | 'retryAfterMs' | 'isTooMuch' | 'pageSizeMax' | 'isFinal'>> & {
      readonly cause?: unknown;
    },
  ) {
    super(message, about);
    this.name = 'ScanFailure';
    this.isTooMuch = about.isTooMuch ?? false;
    this.pageSizeMax = about.pageSizeMax ?? null;
    this.isFinal = about.isFinal ?? false;
  }

  override get passes(): boolean {
    return !this.isFinal && super.passes;
  }
}
