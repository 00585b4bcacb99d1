import type { ScanSettings } from '../feed/scan/scan-kind.ts';
import { Refusal } from '../refusal.ts';
import { certificateOf } from './certificate.ts';
import { SCAN_SETTINGS } from './connection-settings.ts';
import { keysOf } from './setting.ts';
import { type GivenSettings, needs, optionName, type SettingValue } from './settings.ts';

export const SCAN_KEYS = [...keysOf(SCAN_SETTINGS), 'start'] as const;

/** Null where no Scan is given. Throws a Refusal for a setting without one, and for a file that cannot be read. */
export function scanConfig(
  given: GivenSettings,
  values: { readonly [Key in 'scanPageSize' | 'scanPollInterval' | 'readyLagMax' | 'start']: SettingValue<Key> },
): ScanSettings | null {
  const { scan, scanCa } = given;
  if (scan === undefined || scan.length === 0) {
    const first = keysOf(SCAN_SETTINGS).find((key) => key !== 'scan' && given[key] !== undefined);
    if (first !== undefined) throw needs(first, 'scan');
    return null;
  }
  const urls = scan.map(operationsOf);
  const twice = urls.find((url, i) => urls.indexOf(url) !== i);
  if (twice !== undefined) throw new Refusal(`${optionName('scan')}: ${twice} is given twice`);
  const { scanPageSize: pageSize, scanPollInterval: pollIntervalMs, readyLagMax: readyLagMaxMs, start } = values;
  return { urls, pageSize, pollIntervalMs, readyLagMaxMs, ca: certificateOf('scanCa', scanCa), start };
}

/** The path below which a Scan's operations are may be given or left out. */
function operationsOf(text: string): string {
  const url = new URL(text).href.replace(/\/+$/, '');
  return url.endsWith('/api/scan') ? url : `${url}/api/scan`;
}
