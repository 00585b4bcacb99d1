import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStream } from '../support/http/event-stream.ts';
import { type Service, startService } from '../support/http/service.ts';
import { holdfast, holdfastWith } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const STORY = join(import.meta.dirname, '../../fixtures/story.scan.ndjson');
const TOP = '/holdfast/v1/top';

async function statusWith({ url }: Service, key: string | null, path = TOP): Promise<number> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return (await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(60_000) })).status;
}

it('keys are made by a command, asked for by the service and its readers, sent by the commands, and taken back by the file', async () => {
  using directory = temporaryDirectory();
  const file = directory.at('api-keys.ndjson');
  const keyOf = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await holdfast('api-key', ...args, '--api-keys-file', file);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^holdfast_[A-Za-z0-9_-]{43}\n$/);
    return stdout.trim();
  };
  const explorer = await keyOf('explorer');
  const [, line] = readFileSync(file, 'utf8').split('\n');
  expect(line).toBe('');
  // As an editor may leave it.
  writeFileSync(file, readFileSync(file, 'utf8').trimEnd());
  const slow = await keyOf('slow', '--per-minute', '1', '--burst', '2');
  const once = await keyOf('once', '--per-minute', '1');
  const entries = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(entries.map((each) => JSON.parse(each))).toEqual([
    { name: 'explorer', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), perMinute: 600 },
    { name: 'slow', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), perMinute: 1, burst: 2 },
    { name: 'once', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), perMinute: 1 },
  ]);
  expect(readFileSync(file, 'utf8')).not.toMatch(/holdfast_/);
  const { mtimeMs } = statSync(file);
  for (const [args, said] of [
    [['explorer', '--api-keys-file', file], `--api-keys-file: ${file}: name of "explorer": given twice, expected once`],
    [['a b', '--api-keys-file', file], 'line 4: name: given "a b", expected 1-64 of letters, digits, ".", "_" and "-"'],
    [['x', '--per-minute', '0', '--api-keys-file', file], '--per-minute: given "0", expected a whole number'],
    [['x', '--api-keys-file', `${file}/x`], `--api-keys-file: cannot write ${file}/x (ENOTDIR`],
    [['x'], "--api-keys-file is required: the key's hash is added to it"],
  ] as const)
    expect(await holdfast('api-key', ...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
  expect(statSync(file).mtimeMs).toBe(mtimeMs);

  const data = directory.at('data');
  await using writer = await startService(['--data', data, '--file', STORY, '--api-keys-file', file]);
  await writer.until('/readyz', (status) => status === 200);
  await using reader = await startService(['--data', data, '--read-only', '--api-keys-file', file]);
  for (const service of [writer, reader]) {
    expect(await statusWith(service, null)).toBe(401);
    expect(await statusWith(service, 'holdfast_guess')).toBe(401);
    expect(await statusWith(service, explorer)).toBe(200);
    expect([await statusWith(service, slow), await statusWith(service, slow)]).toEqual([200, 200]);
    expect(await statusWith(service, slow)).toBe(429);
  }
  // The users have tokens of their own.
  expect(await (await fetch(`${writer.url}/v2/users`)).json()).toMatchObject({ code: expect.any(String) });
  expect(await statusWith(writer, null, '/v2/version')).toBe(200);
  // A stream is one request however long it is, and ends for no rate.
  const ending = new AbortController();
  const stream = await fetch(`${writer.url}/holdfast/v1/stream`, {
    headers: { authorization: `Bearer ${once}` },
    signal: ending.signal,
  });
  expect(stream.status).toBe(200);
  let said = '';
  for await (const part of stream.body!) {
    said += Buffer.from(part).toString();
    if (said.includes('event: snapshot')) break;
  }
  expect(await statusWith(writer, once)).toBe(429);
  ending.abort();

  for (const args of [
    ['top', '--url', writer.url],
    ['snapshots', '--url', writer.url],
    ['status', '--url', writer.url, '--check'],
    ['status', '--url', writer.url, '--wait', '7d'],
    ['compare', writer.url, '--data', data],
  ]) {
    expect(await holdfastWith({ HOLDFAST_API_KEY: explorer }, ...args)).toMatchObject({ code: 0 });
    const without = await holdfast(...args);
    const needed = 'asks for an API key: given none, expected one that it knows in HOLDFAST_API_KEY\n';
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining(needed) });
    const wrong = await holdfastWith({ HOLDFAST_API_KEY: 'guess' }, ...args);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('given another, expected one') });
    const broken = await holdfastWith({ HOLDFAST_API_KEY: 'sec ret' }, ...args);
    expect(broken).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^holdfast: HOLDFAST_API_KEY: given a space/),
    });
    expect(broken.stderr).not.toMatch(/sec|ret\b/);
  }

  await using alone = await startService(['--data', data, '--read-only', '--compare-with', writer.url]);
  const { err } = await alone.program.logged('a peer cannot be compared; trying again');
  expect(String((err as { message: string }).message)).toContain('given none, as to any peer, expected one');

  // A stream ends with its key, and no other does.
  const streamOf = (key: string) => openStream(writer.url, { headers: { authorization: `Bearer ${key}` } });
  const revoked = await keyOf('revoked');
  await expect.poll(() => statusWith(writer, revoked)).toBe(200);
  using kept = await streamOf(explorer);
  using taken = await streamOf(revoked);
  for (const each of [kept, taken]) await each.until(() => each.named('snapshot').length === 1);
  writeFileSync(file, entries[0]!);
  expect(await taken.ended).toBe(false);
  expect(await statusWith(writer, slow)).toBe(401);
  const metrics = await fetch(`${writer.url}/metrics`, { headers: { authorization: `Bearer ${explorer}` } });
  expect(await metrics.text()).toMatch(/^holdfast_http_streams 1$/m);
  expect(await statusWith(writer, explorer)).toBe(200);
  writeFileSync(file, `${entries[0]}\n{"name": "half`);
  await writer.until('/readyz', (_, body) => {
    return (body as { degraded: string[] }).degraded.some((each) => each.includes(`${file}: line 2: no JSON object`));
  });
  expect(await statusWith(writer, explorer)).toBe(200);
  for (const { program } of [writer, reader]) {
    expect(program.stderr()).not.toContain(explorer);
    expect(program.stderr()).not.toContain('half');
  }
  const bad = ['serve', '--data', directory.at('other'), '--port', '0', '--api-keys-file', file];
  expect(await holdfast(...bad)).toMatchObject({
    code: 2,
    stderr: `holdfast: --api-keys-file: ${file}: line 2: no JSON object, expected a line as \`holdfast api-key\` writes it\n`,
  });
  expect(statSync(directory.at('other'), { throwIfNoEntry: false })).toBeUndefined();
});
