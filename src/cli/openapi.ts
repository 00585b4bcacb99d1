import { Refusal } from '../refusal.ts';
import { readVersion } from '../version.ts';
import { type CliCommand, EXIT } from './command.ts';

/** The OpenAPI documents by the area they describe; loaded only here, because what makes them is large. */
const DOCUMENTS: Readonly<Record<string, (version: string) => Promise<object>>> = {
  holdings: async (version) => (await import('../http/holdings/openapi/document.ts')).createHoldingsDocument(version),
  ledger: async (version) => (await import('../http/users/document.ts')).createUsersDocument(version),
};

export const openapiCommand: CliCommand = {
  usage: 'openapi <area>',
  summary: 'Print the OpenAPI document of an area: holdings or ledger',
  examples: ['holdfast openapi holdings > openapi-holdings.json'],
  dataDir: 'unused',
  settings: [],
  run: async ({ args, terminal }) => {
    const area = args[0]!;
    const create = DOCUMENTS[area];
    if (create === undefined || !Object.hasOwn(DOCUMENTS, area))
      throw new Refusal(`openapi: given ${JSON.stringify(area)}, expected ${Object.keys(DOCUMENTS).join(' or ')}`);
    terminal.stdout.write(`${JSON.stringify(await create(readVersion()), null, 2)}\n`);
    return EXIT.ok;
  },
};
