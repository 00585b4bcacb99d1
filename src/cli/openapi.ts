import { Refusal } from '../refusal.ts';
import { readVersion } from '../version.ts';
import type { CliCommand } from './command.ts';

export const openapiCommand: CliCommand = {
  usage: 'openapi <area>',
  summary: 'Print the OpenAPI document of an area: holdings or ledger',
  examples: ['holdfast openapi holdings > openapi-holdings.json'],
  dataDir: 'unused',
  run: async ({ args, terminal }) => {
    const area = args[0]!;
    // Loaded only here, because the modules are large.
    const { DOCUMENTS } = await import('../http/openapi-documents.ts');
    const document = DOCUMENTS[area];
    if (document === undefined || !Object.hasOwn(DOCUMENTS, area))
      throw new Refusal(`openapi: given ${JSON.stringify(area)}, expected ${Object.keys(DOCUMENTS).join(' or ')}`);
    terminal.stdout.write(`${JSON.stringify(document.create(readVersion()), null, 2)}\n`);
  },
};
