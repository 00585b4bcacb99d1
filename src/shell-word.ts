/** Text as one word of a command line that a message tells somebody to run. */
export function shellWord(text: string): string {
  return /^[\w./+@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
