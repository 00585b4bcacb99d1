import { expect, it } from 'vitest';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { contentOf, type WireElement } from '../../support/ledger-api/elements.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { openSource } from '../../support/ledger-api/open-source.ts';

const LINES = participantLedger(51, 20);
const PARTIES = ownersIn(LINES);
const FAR = Number.MAX_SAFE_INTEGER;

const participant = freshParticipant();

it('the offset of an element that cannot be read moves nothing', async () => {
  const { kind, value } = contentOf(JSON.parse(LINES[5]!) as WireElement);
  const bad = { update: { [kind]: { value: { ...value, offset: FAR, recordTime: 'never' } } } };
  participant.add(...LINES.slice(0, 5), JSON.stringify(bad), ...LINES.slice(5));
  const source = openSource({ url: participant.url, parties: PARTIES, start: 'beginning' });
  const last = String(offsetOf(LINES.at(-1)!));
  const cursors: unknown[] = [];
  for await (const batch of source.batches(AbortSignal.timeout(5_000))) {
    if (!('identity' in batch)) cursors.push(...batch.map(({ cursor }) => cursor));
    if (cursors.includes(String(FAR)) || cursors.includes(last)) break;
  }
  // The checkpoint of the fake's end has that offset too.
  expect(cursors.slice(0, cursors.indexOf(last) + 1)).toContain(last);
  expect(cursors.slice(0, cursors.indexOf(last) + 1)).not.toContain(String(FAR));
});
