import { isAbsolute, relative, sep } from 'node:path'

/** Whether `path` is `folder` or inside it. Links are not followed. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
