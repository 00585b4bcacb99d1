import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createUsersDocument } from '../../../src/http/openapi-documents.ts';
import { readVersion } from '../../../src/version.ts';

describe("the ledger's OpenAPI document", () => {
  it('is the one that schemas/openapi-ledger.json publishes', () => {
    const file = join(import.meta.dirname, '../../../schemas/openapi-ledger.json');
    const made = `${JSON.stringify(createUsersDocument(readVersion()), null, 2)}\n`;
    expect(readFileSync(file, 'utf8'), 'run scripts/write-schemas.ts').toBe(made);
  });

  it('has a component for every reference', () => {
    const document = createUsersDocument('1') as { components: { schemas: object } };
    const references = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name);
    expect(references.length).toBeGreaterThan(20);
    for (const name of references) expect(document.components.schemas).toHaveProperty(name!);
  });
});
