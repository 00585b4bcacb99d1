import { readdirSync, readlinkSync } from 'node:fs';

/** What the descriptors of a process stand for, those of all its threads, a path for each (Linux). */
export function openFiles(pid: number | 'self'): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`)];
    } catch {
      // Closed meanwhile, such as the one that read the folder.
      return [];
    }
  });
}
