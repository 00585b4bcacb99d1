import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { temporaryDirectory } from '../program/temporary-directory.ts';
import { programPath } from './prometheus.ts';

export interface Case {
  /** Series as promtool notates them, a value each minute: `1x5` is six of them. */
  readonly series: Readonly<Record<string, string>>;
  /** The last minute in which the alert does not fire, and a later one in which it does; 0: never. */
  readonly quiet: number;
  readonly fires: number;
}

/** The cases of each alert of a file, in its order. */
export type Cases = Readonly<Record<string, readonly Case[]>>;

export const one = (series: string, values: string, quiet: number, fires: number): Case => ({
  series: { [series]: values },
  quiet,
  fires,
});

/** Whether the alert fires at a minute, as promtool asks it. */
function expectation(alert: string, minute: number, fires: boolean): object {
  return {
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
    eval_time: `${minute}m`,
    exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
  };
}

function promtoolTests(all: Cases): object[] {
  return Object.entries(all).flatMap(([alert, cases]) =>
    cases.map(({ series, quiet, fires }) => ({
      name: alert,
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [expectation(alert, quiet, false), ...(fires === 0 ? [] : [expectation(alert, fires, true)])],
    })),
  );
}

/** Has promtool compute each case from the file as it is. */
export function expectAlerts(rules: string, cases: Cases): void {
  const alerts = [...readFileSync(rules, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert!);
  expect(Object.keys(cases)).toEqual(alerts);
  using folder = temporaryDirectory();
  const file = folder.at('tests.json');
  const tests = { rule_files: [rules], evaluation_interval: '1m', tests: promtoolTests(cases) };
  writeFileSync(file, JSON.stringify(tests, null, 1));
  const { status, stdout, stderr } = spawnSync(programPath('promtool'), ['test', 'rules', file], { encoding: 'utf8' });
  expect({ status, said: status === 0 ? '' : `${stdout}${stderr}`.slice(-4000) }).toEqual({ status: 0, said: '' });
}
