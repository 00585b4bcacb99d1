/** Which Scans to read and how to reach them. */
export interface ScanSettings {
  /** Each with the path below which its operations are: `https://scan.example/api/scan`. */
  readonly urls: readonly string[];
  /** Updates asked for at once. */
  readonly pageSize: number;
  /** How long to wait at the end, before it is asked for more. */
  readonly pollIntervalMs: number;
  /** A Scan that shows nothing for longer than this, where another one has more, is no longer read. */
  readonly readyLagMaxMs: number;
  /** How often the other Scans are asked whether they have more: a minute where it is left out. */
  readonly checkIntervalMs?: number;
  /** PEM of the authorities that may sign the Scans' certificates; null for the system's. */
  readonly ca: string | null;
  /** Where to begin in an empty directory. */
  readonly start: 'snapshot' | 'beginning';
}

/** Their name in messages. */
export function scanName(urls: readonly string[]): string {
  return `Scan ${urls.join(', ')}`;
}
