import { describe, expect, it } from 'vitest';
import { holdfast } from '../../support/program/command.ts';
import { type Program, startProgram } from '../../support/program/program.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';

const KILLS = soakCount(2);
const WRITERS = 4;

interface Running {
  readonly program: Program;
  readonly url: string;
}

/** Starts the program as a user does; its pid is the service's. */
async function serve(dataDir: string): Promise<Running> {
  const program = startProgram(['serve', '--data', dataDir, '--port', '0']);
  const { url } = await program.logged('listening');
  return { program, url: String(url) };
}

async function kill({ program }: Running): Promise<void> {
  program.kill('SIGKILL');
  expect((await program.ended).signal).toBe('SIGKILL');
}

async function mintToken(dataDir: string): Promise<string> {
  const { stdout } = await holdfast('token', '--data', dataDir, '--user', 'participant_admin');
  return stdout.trim();
}

describe('an answered change', () => {
  it(
    `is there after kill -9 (${KILLS} times, with ${WRITERS} writers at once), and no other is there in part`,
    async () => {
      using directory = temporaryDirectory();
      const dataDir = directory.at('data');
      const headers = { authorization: `Bearer ${await mintToken(dataDir)}` };
      const answered = new Set<string>();
      const asked = new Set<string>();

      async function write(url: string, name: string): Promise<void> {
        for (let at = 0; ; at += 1) {
          const id = `${name}-${at}`;
          const user = { id, metadata: { annotations: { a: id, b: 'x'.repeat(at * 100) || 'x' } } };
          const rights = ['p', 'q'].map((party) => ({ kind: { CanActAs: { value: { party } } } }));
          asked.add(id);
          const response = await fetch(`${url}/v2/users`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ user, rights }),
          });
          if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
          await response.body?.cancel();
          answered.add(id);
        }
      }

      async function checkUsers(url: string): Promise<void> {
        const ids = new Set<string>();
        for (let token = ''; ; ) {
          const page = (await (await fetch(`${url}/v2/users?pageToken=${token}`, { headers })).json()) as {
            users: { id: string; metadata: { annotations: Record<string, string> } }[];
            nextPageToken: string;
          };
          for (const user of page.users.filter(({ id }) => id !== 'participant_admin')) {
            ids.add(user.id);
            expect(Object.keys(user.metadata.annotations)).toEqual(['a', 'b']);
          }
          token = page.nextPageToken;
          if (token === '') break;
        }
        expect([...answered].filter((id) => !ids.has(id))).toEqual([]);
        expect([...ids].filter((id) => !asked.has(id))).toEqual([]);
        const last = [...ids].at(-1);
        if (last === undefined) return;
        const { rights } = (await (await fetch(`${url}/v2/users/${last}/rights`, { headers })).json()) as {
          rights: object[];
        };
        expect(rights).toHaveLength(2);
      }

      for (let round = 0; round < KILLS; round += 1) {
        const running = await serve(dataDir);
        await checkUsers(running.url);
        const before = answered.size;
        const writers = Array.from({ length: WRITERS }, (_, at) =>
          write(running.url, `r${round}w${at}`).catch((error: Error) => error),
        );
        const waitMs = Math.random() * 150;
        while (answered.size === before) await new Promise((resolve) => setTimeout(resolve, 1));
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        await kill(running);
        for (const ended of await Promise.all(writers)) expect(String(ended)).toMatch(/fetch failed|terminated/);
      }
      const last = await serve(dataDir);
      await checkUsers(last.url);
      await kill(last);
      expect(answered.size).toBeGreaterThanOrEqual(KILLS);
    },
    KILLS * 60_000,
  );
});
