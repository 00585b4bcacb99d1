import { z } from 'zod';
import { flatEvent } from './flat-event.ts';
import { ledgerApiMessage } from './ledger-api.ts';
import { scanMessage } from './scan.ts';

/** The JSON Schemas of a feed message and of a flat event, by the name of their file in `schemas/`. */
export function feedSchemas(): Readonly<Record<string, unknown>> {
  return {
    'flat-event.json': { title: 'Holdfast flat coin event', ...z.toJSONSchema(flatEvent) },
    'feed-ledger-api.json': { title: 'Holdfast feed message, Ledger API format', ...z.toJSONSchema(ledgerApiMessage) },
    'feed-scan.json': { title: 'Holdfast feed message, Scan format', ...z.toJSONSchema(scanMessage) },
  };
}
