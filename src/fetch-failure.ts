/** Why a `fetch` failed: its error has that in its cause, which of several addresses that all failed has only a code. */
export function fetchFailure(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: Partial<NodeJS.ErrnoException> };
  return cause?.message || cause?.code || message;
}
