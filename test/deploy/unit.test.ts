import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const deploy = (name: string): string => join(import.meta.dirname, '../../deploy', name);
const unit = readFileSync(deploy('holdfast.service'), 'utf8');
/** Tenths of systemd's figure: 0 is a service that can do nothing, 100 one that can do everything. */
const EXPOSURE_MAX = 15;

function systemdAnalyze(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, said: status === 0 ? '' : `${stdout}${stderr}`.slice(-2000) };
}

it('the unit file is one that systemd accepts', () => {
  using folder = temporaryDirectory();
  // Only where the program is installed is there such a command.
  writeFileSync(folder.at('holdfast.service'), unit.replace('ExecStart=holdfast', `ExecStart=${process.execPath}`));
  expect(systemdAnalyze('verify', folder.at('holdfast.service'))).toEqual({ status: 0, said: '' });
});

it('what the service may do is little, as systemd counts it', () => {
  const threshold = `--threshold=${EXPOSURE_MAX}`;
  const checked = systemdAnalyze('security', '--offline=true', '--no-pager', threshold, deploy('holdfast.service'));
  expect(checked).toEqual({ status: 0, said: '' });
});

it('its configuration file is one that the program accepts, with the data where the unit lets it write', () => {
  const { config, warnings } = loadConfig({ options: { config: deploy('holdfast.json') }, env: {} });
  expect(warnings).toEqual([]);
  const folder = /^StateDirectory=(.*)$/m.exec(unit)![1];
  expect(config).toMatchObject({ dataDir: `/var/lib/${folder}`, kafka: { topic: 'updates' } });
  expect(unit).toContain('--config /etc/holdfast/holdfast.json\n');
});
