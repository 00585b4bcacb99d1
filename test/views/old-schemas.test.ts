import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const fixtures = join(import.meta.dirname, '../../fixtures');

const STORY = ['story.scan.ndjson', 'story-migration.scan.ndjson'].map((name) => join(fixtures, name));

/** Each directory of an older schema with the feed it was made from. */
const DIRECTORIES = [12, 13].flatMap((version) => {
  const views = join(fixtures, `views-${version}`);
  const random = [join(views, 'random.scan.ndjson.gz')];
  return [
    { version, name: 'story', views, feed: STORY },
    { version, name: 'random', views, feed: random },
  ];
});

describe.each(DIRECTORIES)('the directory of schema $version from the $name ledger', ({ name, views, feed }) => {
  it('has the snapshots, totals and digests of a replay, and reads its whole feed again', async () => {
    using folder = temporaryDirectory();
    // Opening a directory writes to it.
    cpSync(join(views, name), folder.at('old'), { recursive: true });
    const replayed = await holdfast('replay', '--data', folder.at('new'), ...feed);
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(await holdfast('snapshots', '--data', folder.at('old'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('start `holdfast serve` on the directory, which migrates it'),
    });
    const migrated = await holdfast('replay', '--data', folder.at('old'), folder.writeLines('nothing', []));
    expect(migrated.code, migrated.stderr).toBe(0);
    expect(await holdfast('replay', '--data', folder.at('old'), '--tokens', 'on', folder.at('nothing'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('this directory was built with off'),
    });
    const snapshots = await Promise.all(
      ['old', 'new'].map((each) => holdfast('snapshots', '--json', '--data', folder.at(each))),
    );
    expect(JSON.parse(snapshots[0]!.stdout).length).toBeGreaterThan(5);
    expect(snapshots[0]!.stdout).toBe(snapshots[1]!.stdout);
    expect(await holdfast('verify', '--data', folder.at('old'))).toMatchObject({ code: 0 });
    expect(await holdfast('replay', '--data', folder.at('old'), ...feed)).toMatchObject({ code: 0 });
    const after = await holdfast('snapshots', '--json', '--data', folder.at('old'));
    expect(after.stdout).toBe(snapshots[0]!.stdout);
  });
});
