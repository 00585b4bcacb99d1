import { describe, expect, it } from 'vitest';
import { dropHalted } from '../../src/ingest/resolve-halt.ts';
import type { DeadLetter } from '../../src/views/store/dead-letter-store.ts';
import { openDeadLetters } from '../../src/views/store/dead-letter-store.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { soakCount } from '../support/program/soak.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { type Cuts, type Format, linesOf, replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

/** Bad in one way or another; most still carry an id, so that later archives of what they would have created are bad too. */
const SPOILED: readonly ((line: string, number: number) => string)[] = [
  (line) => line.slice(0, -2),
  (line) => line.replace('"initialAmount":"', '"initialAmount":"-'),
  (line) => line.replace(/("record_?[tT]ime":")2/, '$19'),
  (line) => line.replace(/"synchronizer(_id|Id)"/, '"none"').replace(/"target(_synchronizer)?"/, '"nowhere"'),
  (_line, number) => `{"foo":${number}}`,
];

function spoil(lines: readonly string[], random: Random): string[] {
  return lines.flatMap((line, number) => {
    // The first and the last line, and otherwise now and then, also two in a row.
    const isBad = number === 0 || number === lines.length - 1 || random.chance(0.03);
    if (!isBad) return [line];
    // A first line that is no update at all would be refused.
    const ways = number === 0 ? SPOILED.slice(0, -1) : SPOILED;
    const bad = random.pick(ways.map((spoiled) => spoiled(line, number)).filter((spoiled) => spoiled !== line));
    return random.chance(0.3) ? [bad, `${bad} `, line] : [bad];
  });
}

function deadLettersOf(dataDir: string): readonly Omit<DeadLetter, 'bytes'>[] {
  using deadLetters = openDeadLetters(dataDir);
  return deadLetters.list();
}

describe.each(Array.from({ length: soakCount(3) }, (_, seed) => seed))(
  'a feed with many bad updates (seed %i)',
  (seed) => {
    it('gives the same views whether each is dropped by hand or all are quarantined, wherever it is cut', async () => {
      using folder = temporaryDirectory();
      const random = createRandom(seed);
      const lines = linesOf(randomLedger(oddLedger(seed + 80, { updates: 120, migrations: 2 })), 'scan');
      const feed = folder.writeLines('feed.ndjson', spoil(lines, random));
      const cuts = (): Cuts => ({ chunkBytes: 500 + random.below(20_000), batchEventsMax: 1 + random.below(300) });

      await replayInto(folder.at('quarantined'), [feed], { ...cuts(), onBadUpdate: 'quarantine' });
      const quarantined = deadLettersOf(folder.at('quarantined'));
      expect(quarantined.length).toBeGreaterThan(2);

      for (;;) {
        const { halted } = await replayInto(folder.at('dropped'), [feed], cuts());
        if (halted === null) break;
        // Whatever the policy of the next start, the halt stays until it is resolved.
        const again = await replayInto(folder.at('dropped'), [feed], { ...cuts(), onBadUpdate: 'quarantine' });
        expect(again).toMatchObject({ halted: { id: halted.id }, counts: { updates: 0 } });
        dropHalted(folder.at('dropped'), halted.id);
      }
      const dropped = deadLettersOf(folder.at('dropped'));
      const facts = ({ offset, field, reason }: (typeof dropped)[number]): unknown => ({ offset, field, reason });
      expect(dropped.map(facts)).toEqual(quarantined.map(facts));
      expect(dumpViews(folder.at('dropped'))).toEqual(dumpViews(folder.at('quarantined')));

      const { counts, halted } = await replayInto(folder.at('dropped'), [feed], cuts());
      expect(halted).toBeNull();
      expect(counts).toMatchObject({ updates: 0, decided: quarantined.length });
    }, 120_000);
  },
);

/** Of a line that comes again as it should be behind it. */
it.each([0, 1, 2, 3].flatMap((way) => ['scan', 'ledger-api'].map((format) => [way, format as Format] as const)))(
  'a bad update stops the feed before it, or is left out of it, wherever it is (way %i, %s)',
  async (way, format) => {
    using folder = temporaryDirectory();
    const random = createRandom(way);
    const lines = linesOf(randomLedger(oddLedger(61, { updates: 60 })), format);
    const cuts = (): Cuts => ({ chunkBytes: 1 + random.below(20_000), batchEventsMax: 1 + random.below(200) });
    const replayed = async (name: string, of: readonly string[], onBadUpdate: 'halt' | 'quarantine' = 'halt') => {
      await replayInto(folder.at(name), [folder.writeLines('feed.ndjson', [...of])], { ...cuts(), onBadUpdate });
      return dumpViews(folder.at(name));
    };
    const whole = await replayed('whole', lines);
    const places = [...lines.keys()].filter((at) => at > 0 && SPOILED[way]!(lines[at]!, at) !== lines[at]);
    for (const at of [places[0]!, random.pick(places), places.at(-1)!]) {
      const bad = SPOILED[way]!(lines[at]!, at);
      const [before, after] = [lines.slice(0, at), lines.slice(at)];
      expect(await replayed(`halted ${at}`, [...before, bad, ...after])).toEqual(
        await replayed(`before ${at}`, before),
      );
      expect(await replayed(`left ${at}`, [...before, bad, ...after], 'quarantine')).toEqual(whole);
      for (const [name, decision] of [
        ['halted', 'halted'],
        ['left', 'quarantined'],
      ])
        expect(deadLettersOf(folder.at(`${name} ${at}`))).toMatchObject([{ decision, kind: 'update', offset: at + 1 }]);
    }
  },
);
