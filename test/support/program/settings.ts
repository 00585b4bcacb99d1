import { Command } from 'commander';
import { vi } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { SETTINGS } from '../../../src/config/setting-list.ts';
import { environmentName, settingOption } from '../../../src/setting-kinds.ts';

/** The settings that arguments and an environment give, read as the program reads them. */
export function settingsOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ReturnType<typeof loadConfig> {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const [key, setting] of Object.entries(SETTINGS)) command.addOption(settingOption(key, setting));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    command.parse(args, { from: 'user' });
  } finally {
    vi.unstubAllEnvs();
  }
  const given = Object.entries(command.opts()).filter(([key]) => command.getOptionValueSource(key) !== 'default');
  const config = env[environmentName('config')];
  return loadConfig({
    options: { ...Object.fromEntries(given), ...(config !== undefined && { config }) },
    isOfEnvironment: (key) => command.getOptionValueSource(key) === 'env',
    env,
  });
}
