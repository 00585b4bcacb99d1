import type { Config } from '../../config/load-config.ts';
import { IN_IMPORT, LANE } from '../../feed/network/snapshot-import.ts';
import { dsosOf, lastPosition, laterOf, type ScanPosition, tokenOf } from '../../feed/scan/scan-position.ts';
import { openScanSource } from '../../feed/scan/scan-source.ts';
import { FeedRefused, type SourceContext } from '../../feed/source.ts';
import { Refusal } from '../../refusal.ts';
import { batchesOf, type NetworkLines, type NetworkReading, storedUpTo, type Written } from './network-source.ts';
import { openParticipantLines } from './participant-lines.ts';

export function openNetworkLines(
  written: Written,
  { scan, ledgerApi, migrationId }: Pick<Config, 'scan' | 'ledgerApi' | 'migrationId'>,
  reading: NetworkReading,
): NetworkLines {
  if (ledgerApi !== null) return openParticipantLines(written, ledgerApi, migrationId ?? 0, reading);
  if (scan === null) throw new Refusal('--scan says which network');
  const end = endOf(written);
  const isHalfSeed = end === IN_IMPORT;
  let furthest = isHalfSeed ? null : end;
  const known = new Set(isHalfSeed ? [] : written.ends.flat().map(textOf));
  const source = openScanSource(scan, { ...continuing(furthest), logger: reading.logger });

  async function* read(): AsyncGenerator<'begins' | 'anew' | readonly Uint8Array[]> {
    let hasBegun = false;
    try {
      for await (const batch of batchesOf(source, reading)) {
        if ('identity' in batch) {
          if (furthest !== null && !hasBegun) requireSameNetwork(written, batch.dso);
          if (!hasBegun) yield 'begins';
          hasBegun = true;
          if (batch.anew === true) yield 'anew';
          continue;
        }
        if (batch.length === 0) continue;
        const messages = batch.map(({ bytes }) => bytes!);
        // Again the last minute of what is there: see the source.
        const fresh = messages.filter((bytes) => !known.has(textOf(bytes)));
        if (fresh.length > 0) yield fresh;
        const last = lastPosition(messages);
        if (last !== IN_IMPORT) furthest = laterOf(furthest, last);
        source.stored?.(new Map([[LANE, batch.at(-1)!.cursor!]]), furthest);
      }
    } catch (error) {
      if (error instanceof FeedRefused) throw new Refusal(error.message, { cause: error });
      throw error;
    }
  }

  return { isHalfSeed, read, lagSeconds: () => source.telemetry?.().lagSeconds ?? null };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

/** The furthest place written; null where there is nothing. */
function endOf({ ends, name, otherwise }: Written): ScanPosition | typeof IN_IMPORT | null {
  let furthest: ScanPosition | null = null;
  for (const lines of ends) {
    if (lines.length === 0) continue;
    const place = lastPosition(lines);
    if (place === null) throw new Refusal(`${name}: it ends with no update of a network; ${otherwise}`);
    if (place === IN_IMPORT) return IN_IMPORT;
    furthest = laterOf(furthest, place);
  }
  return furthest;
}

/** By the DSO of its coins and rounds; anybody may have created others. */
function requireSameNetwork({ ends, name, otherwise }: Written, dso: string | undefined): void {
  const found = new Set(ends.flat().flatMap((line) => dsosOf(line)));
  if (dso === undefined || found.has(dso)) return;
  const [other] = found;
  const what =
    other === undefined
      ? 'does not show of which network it is'
      : `has the coins of ${other}, and this is the network of ${dso}`;
  throw new Refusal(`${name}: it ${what}; ${otherwise}`);
}

/** As if that were what a directory has. */
function continuing(place: ScanPosition | null): Omit<SourceContext, 'logger'> {
  const stored = storedUpTo(LANE, place && tokenOf(place));
  return { stored, reached: place, furthest: place, directoryId: '', migrationId: 0 };
}
