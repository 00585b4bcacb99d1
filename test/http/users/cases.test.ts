import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { parseCases, runCase } from '../../support/users/cases.ts';
import { startWorld, type World } from '../../support/users/world.ts';

const FOLDER = join(import.meta.dirname, 'cases');

describe.each(readdirSync(FOLDER))('%s', (file) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(parseCases(readFileSync(join(FOLDER, file), 'utf8')))('$name', async (given) => {
    await runCase(world, given);
  });
});
