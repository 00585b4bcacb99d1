import type { WireFormat } from '../ledger/update.ts';
import type { Chunk } from './chunk.ts';

export function formatOf(chunk: Chunk, i: number): WireFormat {
  return chunk.updates.isScan[i] === 1 ? 'scan' : 'ledger-api';
}

/** A field's name as the update's own format writes it. */
export function fieldName(format: WireFormat, scanName: string): string {
  return format === 'scan' ? scanName : scanName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
