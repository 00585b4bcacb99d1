import { AnswerFailure } from '../network/failure.ts';

/** A Scan did not answer as it should; the message says which one and what it said. */
export class ScanFailure extends AnswerFailure {
  /** A smaller page may be answered. */
  readonly isTooMuch: boolean;
  /** The largest page that the Scan gives, where it said so. */
  readonly pageSizeMax: number | null;
  /** In the words of a Scan, and not of what is in front of it. */
  readonly isOwn: boolean;
  /** To ask again changes nothing, whatever its status. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    about: Partial<
      Pick<ScanFailure, 'cause' | 'status' | 'retryAfterMs' | 'isTooMuch' | 'pageSizeMax' | 'isOwn' | 'isFinal'>
    >,
  ) {
    super(message, about);
    this.name = 'ScanFailure';
    this.isTooMuch = about.isTooMuch ?? false;
    this.pageSizeMax = about.pageSizeMax ?? null;
    this.isOwn = about.isOwn ?? false;
    this.isFinal = about.isFinal ?? false;
  }

  override get passes(): boolean {
    return !this.isFinal && (super.passes || (this.status === 404 && !this.isOwn));
  }
}
