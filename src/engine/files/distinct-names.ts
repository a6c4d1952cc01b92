import type { FileRecord } from '../../domain/file.ts'
import { oneLine } from '../../domain/file-frame.ts'

/** How names are compared: as a model is shown them, whatever it makes of small and capital letters. */
export const nameKey = (name: string): string => oneLine(name).toLowerCase()

/** A number behind it must not be cut off where the name is shown. */
const MOST_STEM = 150

/**
 * The files of a session, in the order in which they came, under names that tell them apart: the second `image.png` is
 * `image (2).png`. A file that was uploaded later changes no name that was given.
 */
export function withDistinctNames(files: readonly FileRecord[]): FileRecord[] {
  const taken = new Set<string>()
  /** By name, the number to try next: a thousand pictures of one name must not cost a million looks. */
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
