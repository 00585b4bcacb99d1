import { describe, expect, it } from 'vitest';
import { fileLine } from '../../src/cli/progress.ts';

const FACTS = { share: 0.7, secondsLeft: 180, done: '24119 updates, 57003 events', file: 'weeks.ndjson' } as const;

describe('the progress of a feed file on a terminal', () => {
  it.each([
    [60, `${'='.repeat(7)}${'-'.repeat(3)} | 70 % | 3 min left | 24119 updates, 57003 events`],
    [80, `${'='.repeat(11)}${'-'.repeat(4)} | 70 % | 3 min left | 24119 updates, 57003 events | weeks.ndjson`],
    [100, `${'='.repeat(25)}${'-'.repeat(10)} | 70 % | 3 min left | 24119 updates, 57003 events | weeks.ndjson`],
    [140, `${'='.repeat(28)}${'-'.repeat(12)} | 70 % | 3 min left | 24119 updates, 57003 events | weeks.ndjson`],
  ])('fits %i columns', (columns, line) => {
    expect(fileLine(columns, FACTS)).toBe(line);
  });

  it('has the time left whole on any terminal that has room for it, and nothing in part', () => {
    for (const file of ['weeks.ndjson', `${'long-'.repeat(40)}.ndjson`])
      for (let columns = 1; columns <= 240; columns++) {
        const [bar = '', ...parts] = fileLine(columns, { ...FACTS, file }).split(' | ');
        const wanted = ['70 %', '3 min left', FACTS.done, file];
        expect(bar.length + parts.map((part) => ` | ${part}`).join('').length).toBeLessThanOrEqual(columns);
        expect(parts).toEqual(wanted.slice(0, parts.length));
        if (columns >= 30) expect(parts).toContain('3 min left');
      }
  });

  it.each([
    [0, '0 s left'],
    [59, '59 s left'],
    [60, '1 min left'],
    [179, '3 min left'],
    [3_599, '60 min left'],
    [3_600, '1 h 0 min left'],
    [93_900, '26 h 5 min left'],
    ['NULL', 'time left unknown'],
    ['INF', 'time left unknown'],
  ])('%s seconds are "%s"', (secondsLeft, said) => {
    expect(fileLine(80, { ...FACTS, secondsLeft }).split(' | ')[2]).toBe(said);
  });

  it('has no share of what has no known end', () => {
    expect(fileLine(80, { ...FACTS, share: null, secondsLeft: 0, file: '-' })).toBe(
      'time left unknown | 24119 updates, 57003 events | -',
    );
  });
});
