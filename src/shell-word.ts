/** Text as one word of a command line that a message shows. */
export function shellWord(text: string): string {
  return /^[\w./+@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
