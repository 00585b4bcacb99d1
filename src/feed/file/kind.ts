import type { SourceKind } from '../source.ts';
import { FILE_LANE } from './lane.ts';
import { openFileSource } from './source.ts';

export interface FileSettings {
  /** `-`: standard input. */
  readonly path: string;
}

/** A file is read from its start each time: what was applied before is a redelivery. */
export const FILE_KIND: SourceKind<FileSettings, never> = {
  kind: 'file',
  readAnew: { lane: FILE_LANE, cursor: '1' },
  placeOf: ({ offset }) => ({ partition: null, message: offset }),
  open: async ({ path }) => openFileSource(path),
  watch: null,
  follow:
    (name) =>
    ({ lanes, progress, isAtEnd }) => {
      const { read = null, total = null } = progress ?? {};
      const cursor = lanes.get(FILE_LANE)?.cursor;
      const left = read === null || total === null ? null : total - read;
      return {
        stopped: `${name} is not read to its end yet`,
        holding: [],
        caughtUpAt: null,
        lagMessages: null,
        details: {
          position: { next_message: cursor === undefined ? null : Number(cursor) },
          read_bytes: read,
          total_bytes: total,
          lag_bytes: isAtEnd ? 0 : left,
        },
      };
    },
};
