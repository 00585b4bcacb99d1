import { type FakeScan, type FakeScanOptions, startFakeScan } from '../../../demo/local-scan.ts';
import { freshEach } from '../program/fresh-each.ts';

/** A Scan that is another one in each test of the calling file. */
export function freshScan(options: FakeScanOptions = {}): FakeScan {
  return freshEach(() => startFakeScan(options));
}
