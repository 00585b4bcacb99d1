import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../support/program/program.ts';

interface Answer {
  readonly snapshots: readonly { readonly record_time: string }[];
  readonly counts: { readonly updates: number };
}

it('the demo follows a ledger that goes on, on a free port, until it is stopped', async () => {
  await using demo = startProgram(['demo', '--port', '0']);
  await expect.poll(() => demo.stdout()).toContain('Ctrl-C');
  const lines = demo.stdout().trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(12);
  const [, url] = /Dashboard +(http:\S+)\/$/m.exec(demo.stdout())!;
  const ask = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as Answer;
  const [first] = (await ask('/holdfast/v1/snapshots?limit=1&order=asc')).snapshots;
  const days = (Date.now() - Date.parse(first!.record_time)) / 86_400_000;
  expect(days).toBeGreaterThan(20.9);
  expect(days).toBeLessThan(21.1);
  const [, asked] = /curl '([^']+)'/.exec(demo.stdout())!;
  expect(((await (await fetch(asked!)).json()) as { owners: unknown[] }).owners).toHaveLength(3);
  const updates = async (): Promise<number> => (await ask('/status')).counts.updates;
  const before = await updates();
  await expect.poll(updates).toBeGreaterThan(before);
  demo.kill('SIGINT');
  expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });
});

it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
  'removes what it wrote at %s, also where it is sent twice',
  async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    try {
      await using demo = startProgram(['demo', '--port', '0'], { env: { TMPDIR: folder } });
      await expect.poll(() => readdirSync(folder)).toHaveLength(1);
      demo.kill(signal);
      demo.kill(signal);
      expect(await demo.ended).toMatchObject({ code: 0, signal: null });
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
