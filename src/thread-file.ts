/** The file of a thread beside the module that starts it: TypeScript in a checkout, JavaScript in the built package. */
export function threadFile(name: string, moduleUrl: string): URL {
  return new URL(`.//${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}
