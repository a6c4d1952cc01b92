// Candidates of one index. FTS5 says which rows have a term; everything else is counted here.

import type { Candidate, WeightedWord } from '../../ports/knowledge.ts'
import { numberIn, type Prepare } from './index-tables.ts'
import { countsIn } from './packed-terms.ts'

type Row = [row: number, id: string, length: number, terms: Uint8Array]

export function createIndexSearch(prepare: Prepare) {
  const rowsWith = prepare('SELECT group_concat(rowid) FROM words_ WHERE words_ MATCH ?')
  const frequency = prepare('SELECT count(*) FROM words_ WHERE words_ MATCH ?')
  const highest = prepare('SELECT max(passage) FROM passages_')
  const allHeads = prepare('SELECT json_group_array(passage), json_group_array(head) FROM passages_')
  const candidateRows = prepare(
    `SELECT passages_.passage, passages_.id, length, terms FROM json_each(?) AS chosen
     CROSS JOIN passages_ ON passages_.passage = chosen.value CROSS JOIN terms_ ON terms_.passage = chosen.value`,
  )
  /** To count the rows of a term that half of the passages have takes a millisecond, and many questions have it. */
  const counted = new Map<number, number>()
  let heads: Float64Array | null = null

  function frequencyOf(term: number): number {
    const known = counted.get(term)
    if (known !== undefined) return known
    const found = numberIn(frequency.get(quoted(term))) ?? 0
    if (counted.size >= MOST_COUNTED) counted.clear()
    counted.set(term, found)
    return found
  }

  function headsOf(rows: Int32Array): Float64Array {
    if (heads === null) {
      const [numbers, values] = (allHeads.get() as unknown as [string, string]).map(
        (text) => JSON.parse(text) as number[],
      )
      heads = new Float64Array((numberIn(highest.get()) ?? 0) + 1)
      for (const [i, row] of (numbers ?? []).entries()) heads[row] = values?.[i] ?? 0
    }
    const known = heads
    return Float64Array.from(rows, (row) => known[row] ?? 0)
  }

  /** At least the best: of those whose ids begin alike, all. */
  function choose(found: Int32Array, sums: Float64Array, most: number): Int32Array {
    if (found.length <= most) return found
    const sumOf = (row: number): number => sums[row] ?? 0
    const least = -nthLowest(
      Float64Array.from(found, (row) => -sumOf(row)),
      most,
    )
    const better = found.filter((row) => sumOf(row) > least)
    const equal = found.filter((row) => sumOf(row) === least)
    const headsOfEqual = headsOf(equal)
    const last = nthLowest(headsOfEqual.slice(), most - better.length)
    return Int32Array.from([...better, ...equal.filter((_, i) => (headsOfEqual[i] ?? 0) <= last)])
  }

  return {
    frequencies: (terms: readonly number[]): number[] => terms.map(frequencyOf),
    candidates(words: readonly WeightedWord[], asked: readonly number[], most: number): Candidate[] {
      const sums = new Float64Array((numberIn(highest.get()) ?? 0) + 1)
      const found = new Int32Array(sums.length)
      let n = 0
      for (const { terms, weight } of words) {
        const [rows] = rowsWith.get(terms.map(quoted).join(' OR ')) as unknown as [string | null]
        forEachNumber(rows ?? '', (row) => {
          const sum = sums[row] ?? 0
          if (sum === 0) found[n++] = row
          sums[row] = sum + weight
        })
      }
      const chosen = choose(found.subarray(0, n), sums, most)
      const rows = candidateRows.all(`[${chosen.join()}]`) as unknown as Row[]
      return rows
        .sort(([one, a], [other, b]) => (sums[other] ?? 0) - (sums[one] ?? 0) || (a < b ? -1 : 1))
        .slice(0, most)
        .map(([, id, length, packed]) => ({ id, length, counts: countsIn(packed, asked) }))
    },
    /** Forgets what it knows: something was written. */
    forget(): void {
      counted.clear()
      heads = null
    },
  }
}

/** Terms whose frequency is known without looking. */
const MOST_COUNTED = 10_000

const quoted = (term: number): string => `"${term.toString(36)}"`

/** A row of a result for each number would take several times as long, and an array of them memory. */
function forEachNumber(list: string, take: (n: number) => void): void {
  if (list === '') return
  let n = 0
  for (let i = 0; i < list.length; i += 1) {
    const digit = list.charCodeAt(i) - ZERO
    if (digit >= 0) {
      n = n * 10 + digit
    } else {
      take(n)
      n = 0
    }
  }
  take(n)
}

/** Of `0`. A comma is below it. */
const ZERO = 48

/** Sorts the values. */
const nthLowest = (values: Float64Array, n: number): number => values.sort()[Math.max(0, n - 1)] ?? 0
