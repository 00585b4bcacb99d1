/** A longer line is kept as its head, length and hash: it is too large for a dead letter, and no update is nearly as long. */
export const LINE_BYTES_MAX = 16 * 2 ** 20;
/** How much of an over-long line is kept (docs/rules.md, bad updates). */
export const OVERLONG_HEAD_BYTES = 64 * 2 ** 10;
/** An array or page is held in memory whole; larger ones must be converted to lines, which have no bound. */
export const CONTAINER_BYTES_MAX = 64 * 2 ** 20;
