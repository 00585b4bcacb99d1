import type { JsonClient } from '../network/json-client.ts';
import { askLedgerEnd, askLocalParties } from './participant.ts';

/** How often the participant's end is asked for, which says how far behind we are. */
const END_MS = 10_000;
/** How often its parties are. */
const PARTIES_MS = 600_000;

export interface Watched {
  /** `askedAt`: our clock, milliseconds. */
  onEnd(offset: number, askedAt: number): void;
  /** The local parties, or why they could not be listed; left out where they do not matter. */
  onParties?(parties: readonly string[] | Error): void;
}

/** Asks a participant small questions while its stream is read; what fails is asked again later, and the stream says why. */
export function watchParticipant(client: JsonClient, { onEnd, onParties }: Watched): Disposable {
  async function lookAtEnd(): Promise<void> {
    const askedAt = Date.now();
    await askLedgerEnd(client).then(
      ({ offset }) => onEnd(offset, askedAt),
      () => {},
    );
  }
  async function lookAtParties(): Promise<void> {
    await askLocalParties(client).then(onParties, onParties);
  }
  const timers = [setInterval(() => void lookAtEnd(), END_MS)];
  if (onParties !== undefined) {
    timers.push(setInterval(() => void lookAtParties(), PARTIES_MS));
    void lookAtParties();
  }
  return {
    [Symbol.dispose]() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
