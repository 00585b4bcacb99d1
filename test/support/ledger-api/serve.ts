import { type Serving, serveSources } from '../feed/serve.ts';

/** A service on a participant, for the parties given. */
export function serveParticipant(options: Readonly<Record<string, unknown>>): Promise<Serving> {
  return serveSources({ migrationId: '0', ...options });
}
