// The lines between the stretches of a diff, which are read from the file that it was made from.

import { useState } from 'react'
import { fullCount } from '../../words.ts'
import { useAction } from '../use-action.ts'
import type { Between, Gap } from './diff-rows.ts'
import type { ReadLines } from './use-read-lines.ts'

/** Lines of a gap. `end`: which side of it they are shown at. */
export interface GapRange {
  name: string
  from: number
  to: number | null
  end: 'first' | 'last'
}

/** So many lines are opened with one press. */
const STEP = 20

/** What can be opened of a gap. */
export function gapRanges({ left, newFrom }: Gap): GapRange[] {
  if (left === 0) return []
  const first = { from: newFrom, to: newFrom + STEP - 1, end: 'first' as const }
  if (left === null) {
    return [
      { ...first, name: `Show ${STEP} lines below` },
      { ...first, to: null, name: 'Show all below' },
    ]
  }
  const end = newFrom + left - 1
  const all = { ...first, to: end, name: `Show all ${fullCount(left)}` }
  if (left <= STEP) return [all]
  // Above the first change nobody has seen what the first lines would go on from.
  const isTop = newFrom === 1
  return [
    ...(isTop ? [] : [{ ...first, name: `Show first ${STEP}` }]),
    { from: end - STEP + 1, to: end, end: 'last', name: `Show last ${STEP}` },
    all,
  ]
}

/** What was read so far, by the key of the gap. */
export function useLinesBetween(readLines: ReadLines | undefined) {
  const [between, setBetween] = useState<ReadonlyMap<string, Between>>(new Map())
  const reading = useAction()
  const read = (key: string, { from, to, end }: GapRange) =>
    void reading.run(async () => {
      // The line before it is there for certain, the first one of a gap at the end of a file may not be.
      const start = Math.max(1, from - 1)
      const found = await readLines?.({ from: start, ...(to === null ? {} : { to }) })
      if (found === undefined) return
      // What is left out of so many bytes is at the end, so these would stand in the wrong place.
      if (end === 'last' && found.left_out > 0) throw new Error('These lines are too long. Show all of them instead.')
      const lines = found.lines.slice(from - start)
      setBetween((was) => {
        const { first, last } = was.get(key) ?? { first: [], last: [] }
        const next = end === 'first' ? { first: [...first, ...lines], last } : { first, last: [...lines, ...last] }
        return new Map(was).set(key, { ...next, totalLines: found.total_lines })
      })
    })
  return { between, read, error: reading.error }
}
