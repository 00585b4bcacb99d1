import { dataDirDefault } from '../config.ts';
import { LIST } from '../dead-letters/advice.ts';
import { commandOn, deadLetterJson, type PrintCommand, plainCommand } from '../dead-letters/text.ts';
import { formatTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';

/** Commands with the data directory, unless it is the default. */
export function printOn(dataDir: string): PrintCommand {
  return dataDir === dataDirDefault() ? plainCommand : commandOn(dataDir);
}

/** A dead letter without its bytes, for programs. */
export function listedDeadLetter(deadLetter: Omit<DeadLetter, 'bytes'>, dataDir: string): Record<string, unknown> {
  const { id, decision, sha256, length, createdAt } = deadLetter;
  return {
    id,
    decision,
    ...deadLetterJson(deadLetter, printOn(dataDir)),
    sha256: sha256.length === 0 ? null : sha256.toString('hex'),
    length,
    created_at: formatTime(createdAt),
  };
}

export function noSuchDeadLetter(id: number, dataDir: string): Refusal {
  return new Refusal(`there is no dead letter ${id}; ${printOn(dataDir)(LIST.command)} lists them`);
}

export function parseDeadLetterId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Refusal(`ID: given ${showGiven(text)}, expected the number of a dead letter, such as 1`);
}
