import type { FakeScan } from '../../../demo/local-scan.ts';
import type { ScanSettings } from '../../../src/feed/network/network-settings.ts';
import type { SourceContext } from '../../../src/feed/source.ts';
import { SCAN_KIND } from '../../../src/sources.ts';
import { type ReadSource, readSource } from '../feed/read-source.ts';

export const operationsOf = ({ url }: FakeScan): string => `${url}/api/scan`;

/** Scans that are read in this process from the beginning, with short intervals. */
export function readScan(
  scans: readonly FakeScan[],
  settings: Partial<ScanSettings> = {},
  context: Partial<SourceContext> = {},
): Promise<ReadSource> {
  const intervals = { pollIntervalMs: 10, checkIntervalMs: 50, readyLagMaxMs: 60_000 };
  const urls = scans.map(operationsOf);
  return readSource(
    SCAN_KIND,
    { urls, pageSize: 20, ca: null, start: 'beginning', ...intervals, ...settings },
    context,
  );
}
