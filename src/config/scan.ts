import { counted } from '../counted.ts';
import type { ScanSettings } from '../feed/scan/settings.ts';
import { Refusal } from '../refusal.ts';
import { certificateOf } from './pem-file.ts';
import { type GivenSettings, optionName, type SettingKey, type SettingValue } from './settings.ts';

/** Every setting of Scans, in the order in which a message names the first that was given. */
export const SCAN_KEYS = [
  'scan',
  'scanAgree',
  'scanPageSize',
  'scanPollInterval',
  'scanCa',
  'start',
] as const satisfies readonly SettingKey[];

/** Null where no Scan is given. Throws a Refusal for a setting without one, and for a file that cannot be read. */
export function scanConfig(
  given: GivenSettings,
  values: { readonly [Key in 'scanAgree' | 'scanPageSize' | 'scanPollInterval' | 'start']: SettingValue<Key> },
): ScanSettings | null {
  const { scan, scanCa } = given;
  if (scan === undefined || scan.length === 0) {
    const first = SCAN_KEYS.find((key) => key !== 'scan' && key !== 'start' && given[key] !== undefined);
    if (first !== undefined) throw new Refusal(`${optionName(first)} needs ${optionName('scan')} too`);
    return null;
  }
  const urls = scan.map(operationsOf);
  const twice = urls.find((url, i) => urls.indexOf(url) !== i);
  if (twice !== undefined) throw new Refusal(`${optionName('scan')}: ${twice} is given twice`);
  const { scanAgree: agree, scanPageSize: pageSize, scanPollInterval: pollIntervalMs, start } = values;
  if (agree > urls.length)
    throw new Refusal(
      `${optionName('scanAgree')} ${agree}: ${counted(urls.length, 'Scan')} named in ${optionName('scan')}`,
    );
  return { urls, agree, pageSize, pollIntervalMs, ca: certificateOf('scanCa', scanCa), start };
}

/** The path below which a Scan's operations are may be given or left out. */
function operationsOf(text: string): string {
  const url = new URL(text).href.replace(/\/+$/, '');
  return url.endsWith('/api/scan') ? url : `${url}/api/scan`;
}
