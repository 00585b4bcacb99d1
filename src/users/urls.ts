/** Whether a URL has a user or a password in it, which is not supported. */
export function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}
