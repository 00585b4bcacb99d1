import { parseLedger, partyOf } from '../ledger/parse-ledger.ts';
import { linesOf } from '../views/replayed.ts';

export const MANY_OWNERS = Array.from({ length: 100 }, (_, i) => partyOf(`o${i}`));

/** Updates of an hour in each of which a hundred owners get a coin: with periods of a minute, 59 snapshots. */
export function manyChanges(hour: number): readonly string[] {
  return Array.from({ length: 60 }, (_, minute) => {
    const creates = MANY_OWNERS.map((party, i) => `+c${hour}-${minute}-${i} ${party.split('::')[0]} 1`);
    const time = [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
    return linesOf(parseLedger(`${time}:30 =u${hour}-${minute} : ${creates.join(' ; ')}`), 'scan');
  }).flat();
}
