// Which words differ between two versions of a line. In a chunk of its own: a page without changed lines does not load it.

import { diffWordsWithSpace } from 'diff'

type Range = readonly [from: number, to: number]

export interface ChangedWords {
  before: Range[]
  after: Range[]
}

const LONGEST_LINE = 2_000
const MOST_EDITS = 400
/** Less in common than this, and the marks would only confuse. */
const LEAST_COMMON = 0.2

/** Null: nothing worth marking. */
export function changedWords(before: string, after: string): ChangedWords | null {
  if (before.length > LONGEST_LINE || after.length > LONGEST_LINE) return null
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS })
  if (changes === undefined) return null
  const found: ChangedWords = { before: [], after: [] }
  let [old, now, common] = [0, 0, 0]
  for (const { value, added, removed } of changes) {
    if (removed) found.before.push([old, old + value.length])
    if (added) found.after.push([now, now + value.length])
    if (!added) old += value.length
    if (!removed) now += value.length
    if (!added && !removed) common += value.trim().length
  }
  return common >= LEAST_COMMON * Math.max(before.trim().length, after.trim().length) ? found : null
}
