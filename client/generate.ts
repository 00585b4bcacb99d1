import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const DOCUMENT = join(import.meta.dirname, '../schemas/openapi-holdings.json');
const TYPES = join(import.meta.dirname, 'src/holdings-api.ts');
const HEAD = '/** Generated from schemas/openapi-holdings.json: node scripts/write-schemas.ts */\n\n';

/** The types of all operations and answers, from the committed OpenAPI document. */
export async function holdingsApiTypes(): Promise<string> {
  const { createUnionTypeNode, createKeywordTypeNode } = ts.factory;
  const number = createKeywordTypeNode(ts.SyntaxKind.NumberKeyword);
  const string = createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
  const types = await openapiTS(JSON.parse(readFileSync(DOCUMENT, 'utf8')), {
    emptyObjectsUnknown: true,
    // The client gives those above 2^53 as their digits, and the service takes them so.
    transform: ({ format }) => (format === 'int64' ? createUnionTypeNode([number, string]) : undefined),
  });
  return HEAD + astToString(types);
}

export async function writeHoldingsApiTypes(): Promise<void> {
  writeFileSync(TYPES, await holdingsApiTypes());
}
