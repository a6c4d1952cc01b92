import type { FileRecord } from '../../domain/session/file.ts'
import { oneLine } from '../../domain/session/file-frame.ts'

/** Names are compared as the model sees them, without regard to case. */
export const nameKey = (name: string): string => oneLine(name).toLowerCase()

/** In characters. The number after a longer name would be cut off where the name is shown. */
const MOST_STEM = 150

/**
 * The files of a session under distinct names: the second `image.png` becomes `image (2).png`. Takes them in the order of their
 * arrival, so that a later file does not change the name of an earlier one.
 */
export function withDistinctNames(files: readonly FileRecord[]): FileRecord[] {
  const taken = new Set<string>()
  /** The number to try next, by name. Without it, a thousand files of one name would cost a million lookups. */
  const next = new Map<string, number>()
  return files.map((file) => {
    const key = nameKey(file.name)
    let name = file.name
    let number = next.get(key) ?? 2
    for (; taken.has(nameKey(name)); number += 1) name = numbered(file.name, number)
    next.set(key, number)
    taken.add(nameKey(name))
    return { ...file, name }
  })
}

function numbered(name: string, number: number): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.\s]{1,11})?$/su.exec(name) ?? []
  return `${stem.slice(0, MOST_STEM).toWellFormed()} (${number})${extension}`
}
