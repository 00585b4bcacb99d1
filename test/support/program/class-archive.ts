import { existsSync } from 'node:fs';

/** What a JVM is started with so that it finds its classes as an earlier one left them, parsed and verified: half of what a start costs. */
export interface ClassArchive {
  readonly flags: readonly string[];
  /** It is written where this JVM ends by itself. */
  readonly isMissing: boolean;
}

/** Of the JVMs of one kind with the jars of a folder; it lies beside that. */
export function classArchive(jars: string, kind: string): ClassArchive {
  const file = `${jars}-${kind}.jsa`;
  const isMissing = !existsSync(file);
  // What is said of it would be on standard output.
  return {
    isMissing,
    flags: [`-XX:${isMissing ? 'ArchiveClassesAtExit' : 'SharedArchiveFile'}=${file}`, '-Xlog:disable'],
  };
}
