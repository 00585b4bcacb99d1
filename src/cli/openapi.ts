import { createLedgerDocument } from '../http/ledger/document.ts';
import { createHoldingsDocument } from '../http/openapi/document.ts';
import { Refusal } from '../refusal.ts';
import { readVersion } from '../version.ts';
import { type CliCommand, EXIT } from './command.ts';

/** The OpenAPI documents by the area they describe. */
const DOCUMENTS: Readonly<Record<string, (version: string) => object>> = {
  holdings: createHoldingsDocument,
  ledger: createLedgerDocument,
};

export const openapiCommand: CliCommand = {
  usage: 'openapi <area>',
  summary: 'Print the OpenAPI document of an area: holdings or ledger',
  examples: ['holdfast openapi holdings > openapi-holdings.json'],
  settings: [],
  run: async ({ args, terminal }) => {
    const area = args[0]!;
    const create = DOCUMENTS[area];
    if (create === undefined || !Object.hasOwn(DOCUMENTS, area))
      throw new Refusal(`openapi: given ${JSON.stringify(area)}, expected ${Object.keys(DOCUMENTS).join(' or ')}`);
    terminal.stdout.write(`${JSON.stringify(create(readVersion()), null, 2)}\n`);
    return EXIT.ok;
  },
};
