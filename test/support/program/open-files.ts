import { readdirSync, readlinkSync } from 'node:fs';

/** The descriptors of a process, those of all its threads, by what they refer to (Linux). */
export function openFiles(pid: number | 'self'): Map<string, number> {
  const folder = `/proc/${pid}/fd`;
  const found = new Map<string, number>();
  for (const fd of readdirSync(folder)) {
    try {
      found.set(readlinkSync(`${folder}/${fd}`), Number(fd));
    } catch {
      // Closed meanwhile, such as the one that read the folder.
    }
  }
  return found;
}
