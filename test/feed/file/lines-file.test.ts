import { randomBytes } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openLinesFile } from '../../../src/cli/fetch.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';

const directory = freshDirectory();

it.each(['gz', 'zst'])('a disk that is full ends what is written to a file in .%s with its reason', async (ending) => {
  const path = directory.at(`feed.ndjson.${ending}`);
  symlinkSync('/dev/full', path);
  const file = openLinesFile(path, process.stdout, 0);
  const writing = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) await file.write([Buffer.from(randomBytes(50_000).toString('hex'))]);
  };
  await expect(writing()).rejects.toMatchObject({ code: 'ENOSPC', path });
  await expect(writing()).rejects.toMatchObject({ code: 'ENOSPC', path });
  await expect(file.end()).rejects.toMatchObject({ code: 'ENOSPC', path });
});
