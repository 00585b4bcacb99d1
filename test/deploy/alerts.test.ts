import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dashboardQueries } from '../support/deploy/expressions.ts';
import { programPath, RULES } from '../support/deploy/prometheus.ts';
import { type Cases, expectAlerts, one } from '../support/deploy/rule-cases.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');
const INSTANCE = 'job="holdfast",instance="a"';
const REQUESTS = `holdfast_http_requests_total{${INSTANCE},method="GET",operation="/x"`;

const cause = (name: string): string => `holdfast_not_ready{${INSTANCE},cause="${name}"}`;

/** Each fires only after the time it waits, and not because of what is usual. */
const CASES: Cases = {
  HoldfastDown: [one(`up{${INSTANCE}}`, '1x5 0x10', 6, 7), one('up{job="other"}', '1x10', 0, 1)],
  HoldfastRestarts: [one(`process_start_time_seconds{${INSTANCE}}`, '1 1 2 2 3 3 4 4x5', 5, 6)],
  HoldfastHalted: [one(cause('halted'), '0 0 1 1', 1, 2)],
  HoldfastRefused: [one(cause('refused'), '0 0 1 1', 1, 2)],
  HoldfastCannotWrite: [one(cause('retrying'), '0 1x5', 2, 3)],
  HoldfastStoreUnavailable: [one(cause('store_unavailable'), '0 1x5', 2, 3)],
  HoldfastStoreFault: [one(`holdfast_store_faults{${INSTANCE}}`, '0 0 1 1', 1, 2)],
  HoldfastStoreLate: [one(`holdfast_store_late_events{${INSTANCE}}`, '0 0 1 1', 1, 2)],
  HoldfastStoreContradiction: [one(`holdfast_store_contradictions{${INSTANCE}}`, '0 0 1 1', 1, 2)],
  HoldfastStoreUnsealed: [
    one(`holdfast_store_unsealed_intervals{${INSTANCE}}`, '0 3x20', 15, 16),
    one(`holdfast_store_unsealed_intervals{${INSTANCE}}`, '1x9 0 1x9 0 1x9', 29, 0),
  ],
  HoldfastAheadOfClock: [one(cause('waiting_for_clock'), '0 1x9', 5, 6)],
  HoldfastBehind: [one(cause('behind'), '1x8 0 1x20', 19, 20)],
  HoldfastNotReady: [one(cause('no_snapshot'), '1x40', 29, 30), one(cause('starting'), '0x5 1x40', 35, 36)],
  HoldfastSnapshotTooOld: [
    {
      series: {
        [`holdfast_newest_snapshot_timestamp_seconds{${INSTANCE},migration="0"}`]: '0x60',
        [`holdfast_newest_snapshot_timestamp_seconds{${INSTANCE},migration="1"}`]: '600x60',
        [`holdfast_snapshot_period_seconds{${INSTANCE}}`]: '600x60',
        [`holdfast_source_caught_up_timestamp_seconds{${INSTANCE}}`]: '1x60',
      },
      // 10 minutes of the newest snapshot, 30 of the rule's expression, 10 for which it must hold.
      quiet: 50,
      fires: 51,
    },
    {
      series: {
        [`holdfast_newest_snapshot_timestamp_seconds{${INSTANCE},migration="0"}`]: '0x60',
        [`holdfast_snapshot_period_seconds{${INSTANCE}}`]: '600x60',
        [`holdfast_store_unsealed_intervals{${INSTANCE}}`]: '0x60',
      },
      quiet: 40,
      fires: 41,
    },
  ],
  HoldfastDegraded: [one(`holdfast_degraded{${INSTANCE}}`, '0 2x9', 5, 6)],
  HoldfastQuarantined: [one(`holdfast_dead_letters{${INSTANCE},decision="quarantined"}`, '7x5 8x5', 5, 7)],
  HoldfastHoldingsUnreadable: [one(`holdfast_holdings_unreadable{${INSTANCE}}`, '7x5 8x5', 5, 7)],
  HoldfastPeerDiffers: [one(`holdfast_compare_different{${INSTANCE},peer="http://b:8080"}`, '0 0 1 1', 1, 2)],
  HoldfastDiskFilling: [
    // A gigabyte an hour fills 90 in less than four days, but not 110.
    one(`holdfast_disk_free_bytes{${INSTANCE}}`, '90e9-16666666x120', 60, 61),
    one(`holdfast_disk_free_bytes{${INSTANCE}}`, '110e9-16666666x600', 600, 0),
  ],
  HoldfastDiskLow: [one(`holdfast_disk_free_bytes{${INSTANCE}}`, '3e9 1e9x9', 5, 6)],
  HoldfastLogGrows: [one(`holdfast_file_bytes{${INSTANCE},file="views.db-wal"}`, '4e8 2e9x90', 60, 61)],
  HoldfastReadsRefused: [
    one(`${REQUESTS},status="503"}`, '0 0+1x20', 6, 7),
    one(`holdfast_http_requests_total{${INSTANCE},operation="/readyz",status="503"}`, '0+9x20', 20, 0),
  ],
  HoldfastErrors: [one(`${REQUESTS},status="500"}`, '0x5 1x5', 5, 6)],
  HoldfastSlow: [
    {
      series: {
        [`holdfast_http_request_seconds_bucket{${INSTANCE},le="1"}`]: '0+90x40',
        [`holdfast_http_request_seconds_bucket{${INSTANCE},le="5"}`]: '0+100x40',
        [`holdfast_http_request_seconds_bucket{${INSTANCE},le="+Inf"}`]: '0+100x40',
      },
      quiet: 15,
      fires: 16,
    },
  ],
  HoldfastConnectionsFull: [one(`holdfast_http_connections{${INSTANCE}}`, '800 801x20', 5, 6)],
  HoldfastFilesOpen: [
    {
      series: {
        [`process_open_fds{${INSTANCE}}`]: '800 830x20',
        [`process_max_fds{${INSTANCE}}`]: '1024x20',
      },
      quiet: 10,
      fires: 11,
    },
  ],
  HoldfastFailedAuthentications: [
    one(`holdfast_users_failed_authentications_total{${INSTANCE}}`, '0 0+60x20', 6, 10),
    one(`holdfast_users_failed_authentications_total{${INSTANCE}}`, '0+20x20', 20, 0),
  ],
};

function promtool(...args: readonly string[]): object {
  const { status, stderr } = spawnSync(programPath('promtool'), args, { encoding: 'utf8' });
  return { status, stderr };
}

it('every alert fires when it should and not before, as promtool computes it from the file as it is', () => {
  expectAlerts(RULES, CASES);
});

it('every alert links to its paragraph, which says what it means, where to look and what to do', () => {
  const rules = readFileSync(RULES, 'utf8');
  const linked = [...rules.matchAll(/- alert: (\w+).*?runbook_url: (\S+)/gs)].map(([, alert, link]) => [alert, link]);
  expect(linked).toEqual(Object.keys(CASES).map((alert) => [alert, `docs/alerts.md#${alert.toLowerCase()}`]));
  const paragraphs = readFileSync(join(root, 'docs/alerts.md'), 'utf8').split(/^## /m).slice(1);
  expect(paragraphs.map((text) => text.split('\n')[0])).toEqual(Object.keys(CASES));
  for (const text of paragraphs)
    expect(text).toMatch(/^\w+\n- \*\*Means:\*\* .+\n- \*\*Look:\*\* .+\n- \*\*Do:\*\* .+\n+$/);
});

it('Prometheus accepts the example of its configuration and every query of the dashboard', () => {
  expect(promtool('check', 'config', join(root, 'deploy/prometheus.yml'))).toEqual({ status: 0, stderr: '' });
  using folder = temporaryDirectory();
  const rules = dashboardQueries().map((expr, i) => ({ record: `query_${i}`, expr }));
  expect(rules.length).toBeGreaterThan(40);
  // JSON is YAML.
  writeFileSync(folder.at('queries.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(promtool('check', 'rules', folder.at('queries.yml'))).toEqual({ status: 0, stderr: '' });
});
