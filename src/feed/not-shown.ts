/** Why a source after files is not ready: until it shows something that they have, nothing says that it begins before their end. */
export function notShown(source: string): string {
  return `not known yet to continue the files: ${source} has shown no update that they have, and may begin after their end`;
}
