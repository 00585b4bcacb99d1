import { expect, it } from 'vitest';
import { formatTable } from '../../src/cli/terminal.ts';

it('sets columns of numbers to the right and the others to the left', () => {
  expect(
    formatTable(
      ['id', 'name'],
      [
        ['1', 'a'],
        ['10', 'bcdefg'],
        ['-3', ''],
      ],
    ),
  ).toBe('id  name\n 1  a\n10  bcdefg\n-3\n');
  expect(formatTable(['id'], [])).toBe('id\n');
});

it('takes as many rows as a directory may have snapshots or dead letters', () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => [String(i), 'x']);
  const lines = formatTable(['no', 'name'], rows).split('\n');
  expect([lines[0], lines[1], lines.at(-2)]).toEqual(['    no  name', '     0  x', '299999  x']);
});
