import { expect, it } from 'vitest';
import { writeWeeks } from '../../demo/weeks.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

it('the demo has weeks of a few hundred owners behind its story, all of which is applied', async () => {
  using folder = temporaryDirectory();
  const [weeks, data] = [folder.at('weeks.ndjson'), folder.at('data')];
  const { updates } = writeWeeks(weeks, 1);
  const replay = await holdfast('replay', fixture('story.scan.ndjson'), weeks, '--data', data);
  expect(replay.code).toBe(0);
  const lines = replay.stdout.trim().split('\n');
  expect(Number(/applied (\d+) updates/.exec(lines.at(-1)!)![1])).toBeGreaterThan(updates);
  const { stdout } = await holdfast('snapshots', '--json', '--data', data);
  const snapshots = JSON.parse(stdout) as { owners: number; record_time: string }[];
  const days = (Date.parse(snapshots.at(-1)!.record_time) - Date.parse(snapshots[0]!.record_time)) / 86_400_000;
  expect(Math.floor(days)).toBeGreaterThanOrEqual(6);
  expect(snapshots.at(-1)!.owners).toBeGreaterThan(100);
});
