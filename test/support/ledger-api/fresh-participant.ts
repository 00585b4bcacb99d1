import { freshEach } from '../program/fresh-each.ts';
import { type FakeParticipant, type FakeParticipantOptions, startFakeParticipant } from './server.ts';

/** A participant that is another one in each test of the calling file. */
export function freshParticipant(options: FakeParticipantOptions = {}): FakeParticipant {
  return freshEach(() => startFakeParticipant(options));
}
