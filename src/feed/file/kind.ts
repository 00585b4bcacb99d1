import type { SourceKind } from '../source.ts';
import { FILE_LANE } from './lines.ts';
import { openFileSource } from './source.ts';

export interface FileSettings {
  /** `-`: standard input. */
  readonly path: string;
}

/** A file is read from its start each time: what was applied before is a redelivery. */
export const FILE_KIND: SourceKind<FileSettings, never> = {
  kind: FILE_LANE,
  resumes: false,
  placeOf: ({ offset }) => ({ partition: null, message: offset }),
  // The feed thread copies a batch before it requests the next one.
  open: async ({ path }) => openFileSource(path, { reuseBuffers: true }),
  follow: (name) => ({
    status({ lanes, progress, isAtEnd }) {
      const { read = null, total = null } = progress ?? {};
      const cursor = lanes.get(FILE_LANE)?.cursor;
      const left = read === null || total === null ? null : total - read;
      const lagBytes = isAtEnd ? 0 : left;
      return {
        stopped: `${name} is not read to its end yet`,
        blocking: [],
        caughtUpAt: null,
        lagMessages: null,
        lagBytes,
        lagSeconds: isAtEnd ? 0 : null,
        positions: cursor === undefined ? {} : { [FILE_LANE]: Number(cursor) },
        details: {
          position: { next_message: cursor === undefined ? null : Number(cursor) },
          read_bytes: read,
          total_bytes: total,
          lag_bytes: lagBytes,
        },
      };
    },
  }),
};
