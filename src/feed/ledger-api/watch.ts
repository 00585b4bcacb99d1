import type { JsonClient } from '../network/json-client.ts';
import { some, without } from './identity.ts';
import { askLedgerEnd, askLocalParties } from './participant.ts';
import type { LedgerApiProgress } from './progress.ts';

/** How often the participant's end is asked for, which says how far behind we are. */
const END_MS = 10_000;
/** How often its parties are. */
const PARTIES_MS = 600_000;

interface Watching {
  readonly progress: LedgerApiProgress;
  /** The parties that were local when they were listed; null where those to follow are named. */
  readonly listed: readonly string[] | null;
  /** What is wrong with it whatever it answers. */
  readonly degraded: readonly string[];
}

/** Asks a participant small questions while its stream is read; what fails is asked again later, and the stream says why. */
export function watchParticipant(client: JsonClient, { progress, listed, degraded }: Watching): Disposable {
  async function lookAtEnd(): Promise<void> {
    const askedAt = Date.now();
    const end = await askLedgerEnd(client).catch(() => null);
    if (end !== null) progress.end(end.offset, askedAt);
  }
  async function lookAtParties(followed: readonly string[]): Promise<void> {
    const local = await askLocalParties(client).catch((error: Error) => error);
    progress.degraded([...degraded, ...degradedBy(local, followed)]);
  }
  progress.degraded(degraded);
  const timers = [setInterval(() => void lookAtEnd(), END_MS)];
  if (listed !== null) {
    timers.push(setInterval(() => void lookAtParties(listed), PARTIES_MS));
    void lookAtParties(listed);
  }
  return { [Symbol.dispose]: () => timers.forEach(clearInterval) };
}

function degradedBy(local: readonly string[] | Error, followed: readonly string[]): readonly string[] {
  if (local instanceof Error)
    return [`the local parties cannot be listed, and one that comes later is not noticed: ${local.message}`];
  const [later, gone] = [without(local, followed), without(followed, local)];
  const came = `${some(later)} came to the participant later and is not followed: a new --data directory follows it too`;
  const went = `${some(gone)} is followed and no longer local to the participant: what becomes of its coins is not read`;
  return [...(later.length > 0 ? [came] : []), ...(gone.length > 0 ? [went] : [])];
}
