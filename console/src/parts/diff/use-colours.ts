import { useEffect, useState } from 'react'
import { languageOf } from '../markdown/languages.ts'
import { coloursOf, type FileColours } from './colours.ts'
import { numberOf } from './diff-rows.ts'
import type { DiffFile } from './parse-diff.ts'
import type { ReadLines } from './use-read-lines.ts'

/** Of a longer file each line is coloured for itself. */
const MOST_LINES = 5_000
const NONE: ReadonlyMap<number, FileColours> = new Map()

/** By the index of the file. They come when the diff is there already: first its languages are loaded, and what stands between. */
export function useColours(files: readonly DiffFile[], readLines: ReadLines | undefined) {
  const [found, setFound] = useState(NONE)
  useEffect(() => {
    let isGone = false
    setFound(NONE)
    async function load(): Promise<void> {
      for (const [index, file] of files.entries()) {
        const language = languageOf(file.name ?? '')
        if (language === null) continue
        const { loadLanguage } = await import('../markdown/highlight.ts')
        const [colour, between] = await Promise.all([loadLanguage(language), linesBetween(file, readLines)])
        // Other work of the page comes first.
        await new Promise((resolve) => setTimeout(resolve))
        if (isGone) return
        const colours = coloursOf(file, colour, between)
        setFound((was) => new Map(was).set(index, colours))
      }
    }
    // Without the chunk the code has no colours.
    load().catch(() => {})
    return () => {
      isGone = true
    }
  }, [files, readLines])
  return found
}

/** Null: they are not needed, not to be had, or too many. */
async function linesBetween({ entries }: DiffFile, read: ReadLines | undefined): Promise<string[] | null> {
  const isNeeded = entries.some((entry) => entry.type === 'stretch' && (entry.skipped ?? 0) > 0)
  const last = entries.findLast((entry) => entry.type === 'same' || entry.type === 'add')
  const to = last === undefined || !('newNumber' in last) ? 0 : numberOf(last)
  if (!isNeeded || read === undefined || to < 1 || to > MOST_LINES) return null
  const found = await read({ from: 1, to }).catch(() => null)
  return found === null || found.left_out > 0 ? null : found.lines
}
