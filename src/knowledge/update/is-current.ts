import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import type { KnownPassage } from '../../store/ports/knowledge.ts'
import type { IndexSettings } from '../knowledge.ts'
import { placesOf, type SourcePlace } from './source-places.ts'

export type IsCurrent = (passage: Pick<KnownPassage, 'file' | 'bytes' | 'changedMs'>) => Promise<boolean>

/** Whether files are now as they were when they were read. Looks at each file once: create one for each search. */
export function createIsCurrent(settings: Pick<IndexSettings, 'sources' | 'directory' | 'folders'>): IsCurrent {
  const stamps = new Map<string, Promise<readonly string[]>>()
  let places: Promise<SourcePlace[]> | null = null

  async function stampsOf(path: string): Promise<readonly string[]> {
    places ??= placesOf(settings)
    const found = await Promise.all((await places).map((place) => stampIn(place, path)))
    return found.filter((one) => one !== null)
  }

  return async ({ file, bytes, changedMs }) => {
    const found = stamps.get(file) ?? stampsOf(file)
    stamps.set(file, found)
    return (await found).includes(`${bytes} ${changedMs}`)
  }
}

/** Null: it is not there, or not a file of this source. */
async function stampIn({ root, real, prefix, only }: SourcePlace, path: string): Promise<string | null> {
  if (real === null || !path.startsWith(prefix)) return null
  const rest = path.slice(prefix.length)
  if (only !== null && 'name' in only && rest !== only.name) return null
  try {
    const target = await realpath(join(root, rest))
    if (!isWithin(target, real)) return null
    const stats = await lstat(target)
    return stats.isFile() ? `${stats.size} ${Math.floor(stats.ctimeMs)}` : null
  } catch {
    return null
  }
}
