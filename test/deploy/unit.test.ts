import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const deploy = (name: string): string => join(import.meta.dirname, '../../deploy', name);
const unit = readFileSync(deploy('holdfast.service'), 'utf8');
const readerUnit = readFileSync(deploy('holdfast-reader@.service'), 'utf8');
/** Tenths of systemd's figure: 0 is a service that can do nothing, 100 one that can do everything. */
const EXPOSURE_MAX = 15;
const UNITS = [
  ['holdfast.service', unit],
  ['holdfast-reader@.service', readerUnit],
] as const;

function systemdAnalyze(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, said: status === 0 ? '' : `${stdout}${stderr}`.slice(-2000) };
}

it.each(UNITS)('%s is one that systemd accepts', (name, text) => {
  using folder = temporaryDirectory();
  // Only where the program is installed is there such a command.
  writeFileSync(folder.at(name), text.replace('ExecStart=holdfast', `ExecStart=${process.execPath}`));
  expect(systemdAnalyze('verify', folder.at(name))).toEqual({ status: 0, said: '' });
});

it('what the services may do is little, as systemd counts it, and the same', () => {
  const threshold = `--threshold=${EXPOSURE_MAX}`;
  const checked = systemdAnalyze('security', '--offline=true', '--no-pager', threshold, deploy('holdfast.service'));
  expect(checked).toEqual({ status: 0, said: '' });
  const sandboxOf = (text: string): string => text.slice(text.indexOf('# What it may do'));
  expect(sandboxOf(unit)).toMatch(/ProtectSystem=strict/);
  expect(sandboxOf(readerUnit)).toBe(sandboxOf(unit));
});

it('their configuration files are ones that the program accepts, with the data where the units let it write', () => {
  const { config, warnings } = loadConfig({ options: { config: deploy('holdfast.json') }, env: {} });
  expect(warnings).toEqual([]);
  const folder = /^StateDirectory=(.*)$/m.exec(unit)![1];
  expect(config).toMatchObject({ dataDir: `/var/lib/${folder}`, scan: { urls: expect.any(Array) } });
  expect(unit).toContain('--config /etc/holdfast/holdfast.json\n');
  const reader = loadConfig({ options: { config: deploy('reader.json') }, env: {} });
  expect(reader.warnings).toEqual([]);
  expect(reader.config).toMatchObject({ dataDir: config.dataDir, readOnly: true, reusePort: true });
  expect(reader.config.port).not.toBe(config.port);
  expect(readerUnit).toContain(`StateDirectory=${folder}\n`);
  expect(readerUnit).toContain('--config /etc/holdfast/reader.json\n');
});
