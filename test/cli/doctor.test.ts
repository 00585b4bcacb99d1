import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it, test } from 'vitest';
import { type FakeScanOptions, startFakeScan } from '../../demo/local-scan.ts';
import { startFakeParticipant } from '../support/ledger-api/server.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const DSO = 'DSO::1220dd';
const SNAPSHOT = '2025-02-12T00:30:00Z';
const folder = temporaryDirectory();
const parts = new AsyncDisposableStack();
parts.use(folder);
afterAll(() => parts.disposeAsync());
const scanOf = async (options: FakeScanOptions = {}) =>
  parts.use(await startFakeScan({ migrationId: 4, snapshots: [SNAPSHOT], ...options })).url;

async function doctor(...args: readonly string[]) {
  const { code, stdout, stderr } = await holdfast(
    'doctor',
    '--data',
    folder.at('data'),
    '--log-level',
    'error',
    ...args,
  );
  expect(stderr).toBe('');
  return { code, lines: stdout.trimEnd().split('\n') };
}

describe('holdfast doctor', () => {
  it('says ok of what is fine, in a line each', async () => {
    const [first, second] = [await scanOf(), await scanOf({ version: '0.9.1' })];
    const { code, lines } = await doctor('--scan', `${first},${second}`, '--dso', DSO);
    expect(lines).toEqual([
      expect.stringMatching(/^ok {4}Node\.js: v\d+\S* on linux \w+$/),
      expect.stringMatching(/^ok {4}disk: \d+ GiB free at \//),
      `ok    data: ${folder.at('data')} is made by the first start`,
      `ok    Scan ${first}/api/scan: Splice 0.8.3, migration 4, a snapshot of ${SNAPSHOT}`,
      `ok    Scan ${second}/api/scan: Splice 0.9.1, migration 4, a snapshot of ${SNAPSHOT}`,
      `ok    DSO: ${DSO}`,
      `ok    clock: within 5 s of ${new URL(first).host}`,
    ]);
    expect(code).toBe(0);
  });

  it('says how to begin with a Scan that has no snapshot yet', async () => {
    const first = await scanOf({ snapshots: [] });
    const { code, lines } = await doctor('--scan', first);
    expect(code).toBe(1);
    expect(lines[3]).toMatch(/^mend {2}Scan .*: has no snapshot of migration 4 yet; --start beginning needs none \(/);
    expect(await doctor('--scan', first, '--start', 'beginning')).toMatchObject({ code: 0 });
  });

  it('says what to do about Scans of two networks, without the history, or that let nobody in', async () => {
    const other = await scanOf({ dso: 'DSO::1220ee' });
    const young = await scanOf({ isBackfilled: false });
    const closed = await startFakeScan({ snapshots: [SNAPSHOT] });
    parts.use(closed);
    closed.fail('/version', { status: 403, body: 'RBAC: access denied' });
    const { code, lines } = await doctor('--scan', [other, young, closed.url].join());
    expect(code).toBe(1);
    expect(lines.slice(4)).toEqual([
      `mend  Scan ${young}/api/scan: it has not all of the history yet; name another one too`,
      expect.stringMatching(/^mend {2}Scan .*403.*its operator has to add ours$/),
      `mend  DSO: DSO::1220ee and ${DSO} are two networks; name Scans and a --dso of one`,
      expect.stringMatching(/^ok {4}clock/),
      '3 things to mend',
    ]);
  });

  it('does not speak of a token where none is given, and says why no clock is compared', async () => {
    const participant = await startFakeParticipant({ localParties: ['alice::1220ab'] });
    parts.use(participant);
    const { lines } = await doctor('--ledger-api', participant.url, '--ledger-api-parties', 'all');
    expect(lines[3]).toBe(`ok    participant ${participant.url}: it asks for no token, ledger end 0`);
    expect((await doctor()).lines.at(-1)).toBe('ok    clock: not compared: neither a Scan nor a participant is named');
  });

  it('tests the token, the rights and the parties of a participant', async () => {
    const participant = await startFakeParticipant({ localParties: ['alice::1220ab', 'bob::1220cd'], token: 'jwt' });
    parts.use(participant);
    writeFileSync(folder.at('good'), 'jwt');
    writeFileSync(folder.at('bad'), 'other');
    const of = (token: string, parties: string) =>
      doctor(
        '--ledger-api',
        participant.url,
        '--ledger-api-token-file',
        folder.at(token),
        '--ledger-api-parties',
        parties,
      );
    const good = await of('good', 'all');
    expect(good).toMatchObject({ code: 0 });
    expect(good.lines.slice(3, 5)).toEqual([
      `ok    participant ${participant.url}: the token is accepted, ledger end 0`,
      'ok    rights to read: of all parties, 2 of them local',
    ]);
    participant.change({ holdings: ['V1'] });
    const { lines } = await of('good', 'alice::1220ab');
    expect(lines[4]).toMatch(/^ok {4}rights to read: of alice::1220ab; .*: holdings are read by version 1 alone$/);
    const bad = await of('bad', 'alice::1220ab');
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.lines[3]).toMatch(/^mend {2}participant .*; the token is missing, expired or of another issuer$/);
  });
});

describe('holdfast completion', () => {
  test('completes commands, groups and options in bash', async () => {
    const { stdout } = await holdfast('completion', 'bash');
    const complete = (...words: readonly string[]): string[] => {
      const script = `${stdout}\nCOMP_WORDS=(${['holdfast', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _holdfast; echo "\${COMPREPLY[*]}"`;
      return execFileSync('bash', ['-c', script]).toString().trim().split(' ');
    };
    expect(complete('dec')).toEqual(['decode']);
    expect(complete('dead-letters', '')).toEqual(expect.arrayContaining(['list', 'show', 'retry', 'drop']));
    expect(complete('serve', '--scan-p')).toEqual(['--scan-page-size', '--scan-poll-interval']);
    expect(complete('history', '--owner', 'a', '--li')).toEqual(['']);
    expect(complete('history', '--owner', 'a', '--la')).toEqual(['--last']);
    expect(await holdfast('completion', 'tcsh')).toMatchObject({ code: 2 });
  });
});
