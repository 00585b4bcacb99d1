/** A count and its noun as people write them: `1 partition`, `2 partitions`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
