import { expect, it } from 'vitest';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { decodeLines, type LinesTask } from '../support/scale/decoded.ts';
import { type Format, linesOf } from '../support/views/replayed.ts';

const LEDGER = parseLedger(`
  00:05 : +a alice 10
  00:25 : +b bob 5
  00:06 : -a
  00:26 : -b`);
const [FIRST, NEXT, LATE, LAST] = linesOf(LEDGER, 'scan') as [string, string, string, string];

/** The kinds of events with the minutes of their times, and what is bad. */
function shown(lines: readonly string[], task: Partial<LinesTask> = {}) {
  const { events, bad, position } = decodeLines(lines, { dso: partyOf('DSO'), ...task });
  const minute = (t: number | null): number => new Date(t! / 1000).getUTCMinutes();
  const faults = bad.map(({ decision, fault }) => `${decision} ${fault.code}`);
  return { events: events.map(({ k, t }) => `${k}${minute(t)}`), faults, position };
}

it('an update of an interval before the one that its partition has reached is a dead letter', () => {
  const all = [FIRST, NEXT, LATE, LAST];
  expect(shown(all)).toMatchObject({ events: ['C5', 'C25'], faults: ['halted disorder'] });
  expect(shown(all, { onBadUpdate: 'quarantine' })).toMatchObject({
    events: ['C5', 'C25', 'A26'],
    faults: ['quarantined disorder'],
  });
});

it('names the field of the time as the format of the update writes it', () => {
  const fieldsOf = (format: Format) => {
    const [first, next, late] = linesOf(LEDGER, format);
    return decodeLines([first!, next!, late!], { dso: partyOf('DSO') }).bad.map(({ fault }) => fault.field);
  };
  expect([fieldsOf('scan'), fieldsOf('ledger-api')]).toEqual([['record_time'], ['recordTime']]);
});

it('is one after a restart too, because how far time has come is kept with the position', () => {
  const { position: from } = shown([FIRST, NEXT]);
  expect(shown([LATE], { from })).toMatchObject({ events: [], faults: ['halted disorder'] });
});

it('within the interval that is open, updates may come twice and in any order, and the time reached stays', () => {
  const { events, faults, position } = shown([FIRST, LAST, NEXT, LAST]);
  expect(events).toEqual(['C5', 'A26', 'C25', 'A26']);
  expect(faults).toEqual([]);
  expect(position.last).toEqual(shown([FIRST, LAST]).position.last);
});
