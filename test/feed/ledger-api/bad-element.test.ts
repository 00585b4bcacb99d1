import { expect, it } from 'vitest';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { contentOf, type WireElement } from '../../support/ledger-api/elements.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { openSource } from '../../support/ledger-api/open-source.ts';
import { seenLines, TEMPLATES } from '../../support/ledger-api/participant-ledger.ts';
import { serveParticipant } from '../../support/ledger-api/serve.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = participantLedger(51, 20);
const PARTIES = ownersIn(LINES);
const FAR = Number.MAX_SAFE_INTEGER;

const directory = freshDirectory();
const participant = freshParticipant();

function badLine(more: object): string {
  const { kind, value } = contentOf(JSON.parse(LINES[5]!) as WireElement);
  return JSON.stringify({ update: { [kind]: { value: { ...value, recordTime: 'never', ...more } } } });
}

it('the offset of an element that cannot be read moves nothing', async () => {
  participant.add(...LINES.slice(0, 5), badLine({ offset: FAR }), ...LINES.slice(5));
  const source = openSource({ url: participant.url, parties: PARTIES, start: 'beginning' });
  const last = String(offsetOf(LINES.at(-1)!));
  const cursors: unknown[] = [];
  for await (const batch of source.batches(AbortSignal.timeout(60_000))) {
    if (!('identity' in batch)) cursors.push(...batch.map(({ cursor }) => cursor));
    if (cursors.includes(String(FAR)) || cursors.includes(last)) break;
  }
  // Behind the updates there is a checkpoint of that offset too, which is the end of this participant.
  expect(cursors.slice(0, cursors.indexOf(last) + 1)).toContain(last);
  expect(cursors.slice(0, cursors.indexOf(last) + 1)).not.toContain(String(FAR));
});

it('one that is dropped is not applied, and what is behind it is', async () => {
  const data = directory.at('data');
  const parties = PARTIES.join(',');
  const options = { data, ledgerApi: participant.url, ledgerApiParties: parties, start: 'beginning', dso: DSO };
  participant.add(...LINES.slice(0, 5), badLine({}), ...LINES.slice(5));
  {
    await using service = await serveParticipant(options);
    await service.until('/status', { phase: 'halted', halted: { kind: 'update' } });
  }
  await holdfast('dead-letters', 'drop', '1', '--yes', '--data', data);
  {
    await using service = await serveParticipant(options);
    await service.until('/status', { halted: null, source: { position: String(offsetOf(LINES.at(-1)!)) } });
  }
  const seen = seenLines(LINES, { parties: PARTIES, templates: TEMPLATES });
  await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', seen)], { dso: DSO });
  expect(dumpViews(data)).toEqual(dumpViews(directory.at('wanted')));
});
