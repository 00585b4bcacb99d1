import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { Refusal } from '../../src/refusal.ts';

const load = (options: Readonly<Record<string, unknown>>) => loadConfig({ options, env: {} }).config.scan;

describe('the settings of Scans', () => {
  it('name addresses with or without the path of the operations', () => {
    expect(load({ scan: 'https://a.example,http://b.example:8080/,https://c.example/api/scan/' })).toEqual({
      urls: ['https://a.example/api/scan', 'http://b.example:8080/api/scan', 'https://c.example/api/scan'],
      pageSize: 500,
      pollIntervalMs: 10_000,
      readyLagMaxMs: 60_000,
      ca: null,
      start: 'snapshot',
    });
  });

  it.each<[Readonly<Record<string, unknown>>, string]>([
    [{ scan: 'scan.example' }, '--scan: given "scan.example", expected http or https addresses without a user'],
    [{ scan: 'https://me:secret@a.example' }, 'expected http or https addresses without a user'],
    [{ scan: 'https://a.example?x=1' }, 'expected http or https addresses'],
    [{ scan: 'https://a.example,https://a.example/api/scan' }, '--scan: https://a.example/api/scan is given twice'],
    [{ scanPageSize: '10' }, '--scan-page-size needs --scan too'],
    [{ start: 'beginning' }, '--start needs --scan or --ledger-api too'],
    [{ scan: 'https://a.example', scanPageSize: '1001' }, '--scan-page-size: given "1001"'],
    [{ scan: 'https://a.example', scanCa: '/nonexistent.pem' }, '--scan-ca: cannot read /nonexistent.pem'],
    [
      { scan: 'https://a.example', kafkaBrokers: 'a:1', kafkaTopic: 't' },
      '--scan cannot be given with --kafka-topic: one source is followed',
    ],
  ])('%o are refused: %s', (options, says) => {
    expect(() => load(options)).toThrow(Refusal);
    expect(() => load(options)).toThrow(says);
  });
});
