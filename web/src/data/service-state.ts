import type { Status } from './answers.ts';
import type { Live } from './stream.ts';

/** What the service is doing, for the header and the feed's card. */
export interface ServiceState {
  /** Good only while the service is ready and follows a source. */
  readonly tone: 'good' | 'busy' | 'calm' | 'bad';
  readonly text: string;
  /** Why it is not good; empty where the text says all. */
  readonly reasons: readonly string[];
  /** Nothing is read: what is stored has an age. */
  readonly isStored: boolean;
}

/** `status` is what /status answered last; null before its first answer. */
export function serviceState({ connection, status: live }: Live, status: Status | null): ServiceState {
  const of = (tone: ServiceState['tone'], text: string, reasons: readonly string[] = [], isStored = false) => {
    return { tone, text, reasons, isStored };
  };
  if (connection === 'lost') return of('bad', 'Connection lost: trying again');
  if (live === null || status === null) return of('calm', 'Connecting');
  const { phase, halted, ready, reasons, source } = live;
  if (halted !== null) return of('bad', 'Halted', [halted.reason]);
  if (phase === 'starting') return of('calm', 'Starting', reasons);
  if (phase === 'stopping') return of('calm', 'Stopping');
  const isReadOnly = status.phase === 'read_only';
  if (!ready && (source !== null || isReadOnly)) return of('busy', 'Not ready', reasons);
  if (source !== null) return of('good', 'Live');
  const own = status.source === null ? 'no source' : `${status.source.name} has ended`;
  return of('calm', `${ready ? 'Stored' : 'No'} data · ${isReadOnly ? 'another process writes it' : own}`, [], true);
}
