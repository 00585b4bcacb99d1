/** How long something took, each time, in seconds: how many took at most each of the bounds, and all of them together. */
export interface Durations {
  readonly bounds: readonly number[];
  /** One more than there are bounds: the last is of those above all of them. */
  readonly counts: number[];
  sum: number;
}

export function noDurations(bounds: readonly number[]): Durations {
  return { bounds, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 };
}

export function addDuration(durations: Durations, seconds: number): void {
  const { bounds, counts } = durations;
  let at = 0;
  while (at < bounds.length && seconds > bounds[at]!) at++;
  counts[at]! += 1;
  durations.sum += seconds;
}
