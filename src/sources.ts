import { FILE_KIND } from './feed/file/file-source.ts';
import type { TopicSettings } from './feed/kafka/kafka-client.ts';
import { TOPIC_KIND } from './feed/kafka/kafka-kind.ts';
import { networkKind } from './feed/network/network-progress.ts';
import type { LedgerApiSettings, ScanSettings } from './feed/network/network-settings.ts';
import type { SourceKind, SourceSpec } from './feed/source.ts';
import { Refusal } from './refusal.ts';

interface Followed {
  readonly kafka: TopicSettings | null;
  readonly scan: ScanSettings | null;
  readonly ledgerApi: LedgerApiSettings | null;
}

/** Its resume token is the position after an update on the ledger: `4 2026-02-14T15:00:00Z`. */
export const SCAN_KIND = networkKind<ScanSettings>('network', async (settings, context) =>
  (await import('./feed/scan/scan-source.ts')).openScanSource(settings, context),
);

/** Its resume token is the offset up to which everything is read, in digits. */
export const LEDGER_API_KIND = networkKind<LedgerApiSettings>('participant', async (settings, context) =>
  (await import('./feed/ledger-api/participant-source.ts')).openLedgerApiSource(settings, context),
);

/** Every kind of source that a configuration can name; docs/code.md lists what a new one needs. */
const KINDS: readonly SourceKind[] = [FILE_KIND, TOPIC_KIND, SCAN_KIND, LEDGER_API_KIND];

export function fileSpec(path: string): SourceSpec {
  return { kind: FILE_KIND.kind, name: path, settings: { path } };
}

export function topicSpec(kafka: TopicSettings): SourceSpec {
  return { kind: TOPIC_KIND.kind, name: `topic ${kafka.topic}`, settings: kafka };
}

export function scanSpec(scan: ScanSettings): SourceSpec {
  return { kind: SCAN_KIND.kind, name: `Scan ${scan.urls.join(', ')}`, settings: scan };
}

export function ledgerApiSpec(ledgerApi: LedgerApiSettings): SourceSpec {
  return { kind: LEDGER_API_KIND.kind, name: `Ledger API ${ledgerApi.url}`, settings: ledgerApi };
}

/** What is followed after the files: at most one. loadConfig refuses two networks; `produce` reads one into a topic. */
export function followedSources({ kafka, scan, ledgerApi }: Followed): readonly SourceSpec[] {
  if (kafka !== null && (scan !== null || ledgerApi !== null))
    throw new Refusal(
      `--kafka-topic cannot be given with --${scan === null ? 'ledger-api' : 'scan'}: one source is followed`,
    );
  if (ledgerApi !== null) return [ledgerApiSpec(ledgerApi)];
  if (scan !== null) return [scanSpec(scan)];
  return kafka === null ? [] : [topicSpec(kafka)];
}

export function knownKind(kind: string): SourceKind | null {
  return KINDS.find((each) => each.kind === kind) ?? null;
}

/** The kind of that name, or that of a module; each thread loads it for itself. */
export async function sourceKind(kind: string): Promise<SourceKind> {
  const known = knownKind(kind);
  if (known !== null) return known;
  const { default: loaded } = (await import(kind)) as { readonly default: SourceKind };
  return loaded;
}
