import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { RULES } from './prometheus.ts';

const DASHBOARD = join(import.meta.dirname, '../../../deploy/grafana-dashboard.json');

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

/** The queries of Grafana's dashboard, with what it puts in for all instances and a short interval. */
export function dashboardQueries(): string[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard;
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '30s')),
  );
}

/** The metrics that a text is of; a histogram by its own name. */
export function metricsIn(text: string): string[] {
  const names = text.matchAll(/\b(?:holdfast|process|nodejs)_\w+/g);
  return [...names].map(([name]) => name.replace(/(_seconds)_bucket$/, '$1'));
}

/** The metrics with this prefix that alerts and dashboard ask for, in order. */
export function metricsAskedFor(prefix: string): string[] {
  const asked = [readFileSync(RULES, 'utf8'), ...dashboardQueries()].flatMap(metricsIn);
  return [...new Set(asked)].filter((name) => name.startsWith(prefix)).sort();
}
