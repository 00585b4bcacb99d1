/**
 * What the contracts of one page may take: pages of usual ones are a tenth of this, but whoever locks a coin writes a text of any
 * length beside it, and a thousand of those would fill the memory of a service that many ask for them.
 */
export const PAGE_CHARS_MAX = 16 * 2 ** 20;

/** A page would take more than PAGE_CHARS_MAX; so many of its contracts fit. One always does. */
export class PageTooLarge extends Error {
  readonly fitting: number;

  constructor(fitting: number) {
    super(`a page has room for ${fitting} of these contracts`);
    this.name = 'PageTooLarge';
    this.fitting = fitting;
  }
}
