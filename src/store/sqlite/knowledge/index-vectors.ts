// The vectors of one index. All codes are held in memory from the first search on: 20 MB for 100,000 vectors of 1,536 dimensions.

import type { SQLOutputValue } from 'node:sqlite'
import { refuseOtherDimensions } from '../../knowledge-refusals.ts'
import type { NewPassage, NewVector, PassageVectors } from '../../ports/knowledge.ts'
import { numberIn, type Prepare } from './index-tables.ts'

interface Codes {
  /** The numbers of the vectors, rising. */
  vectors: Float64Array
  /** Their codes, each as so many words. */
  words: Uint32Array
  wordsEach: number
}

const WORD_BYTES = 4

export function createIndexVectors(prepare: Prepare) {
  const dimensions = prepare('SELECT length(floats) / 4 FROM vectors_ LIMIT 1')
  const codesAfter = prepare('SELECT vector, code FROM codes_ WHERE vector > ? ORDER BY vector')
  const countCodes = prepare('SELECT count(*) FROM codes_ WHERE vector > ?')
  const removeCode = prepare('DELETE FROM codes_ WHERE digest = ? RETURNING vector')
  const addCode = prepare('INSERT INTO codes_ (digest, code) VALUES (?, ?)')
  const removeVector = prepare('DELETE FROM vectors_ WHERE vector = ?')
  const addVector = prepare('INSERT INTO vectors_ (vector, bytes, floats) VALUES (?, ?, ?)')
  const markEmbedded = prepare('UPDATE passages_ SET embedded = 1 WHERE digest = ? AND embedded = 0')
  const markAllUnembedded = prepare('UPDATE passages_ SET embedded = 0 WHERE embedded = 1')
  const unembedded = prepare('SELECT DISTINCT digest FROM passages_ WHERE embedded = 0 ORDER BY digest LIMIT ? + 0')
  const textOf = prepare(
    'SELECT data FROM passages_ JOIN texts_ ON texts_.passage = passages_.passage WHERE digest = ? ORDER BY id LIMIT 1',
  )
  const passagesOf = prepare(
    `SELECT vector, passages_.id FROM json_each(?) AS chosen CROSS JOIN codes_ ON codes_.vector = chosen.value
     CROSS JOIN passages_ ON passages_.digest = codes_.digest`,
  )
  const vectorOf = (column: 'bytes' | 'floats') =>
    prepare(
      `SELECT ${column} FROM passages_ CROSS JOIN codes_ ON codes_.digest = passages_.digest
       CROSS JOIN vectors_ ON vectors_.vector = codes_.vector WHERE id = ?`,
    )
  const bytesOf = vectorOf('bytes')
  const floatsOf = vectorOf('floats')
  const unused =
    'SELECT vector FROM codes_ WHERE NOT EXISTS (SELECT 1 FROM passages_ WHERE passages_.digest = codes_.digest)'
  const sweeps = [
    prepare(`DELETE FROM vectors_ WHERE vector IN (${unused})`),
    prepare(`DELETE FROM codes_ WHERE vector IN (${unused})`),
  ]
  const sweepsOfAll = [prepare('DELETE FROM vectors_'), prepare('DELETE FROM codes_')]
  let held: Codes | null = null

  /** Reads those that came since the last time. */
  function heldCodes(codeBytes: number): Codes {
    const wordsEach = Math.ceil(codeBytes / WORD_BYTES)
    const before = held ?? { vectors: new Float64Array(), words: new Uint32Array(), wordsEach }
    const last = before.vectors.at(-1) ?? 0
    const more = numberIn(countCodes.get(last)) ?? 0
    if (held !== null && more === 0) return held
    const count = before.vectors.length + more
    const vectors = new Float64Array(count)
    const words = new Uint32Array(count * wordsEach)
    vectors.set(before.vectors)
    words.set(before.words)
    const bytes = new Uint8Array(words.buffer)
    let i = before.vectors.length
    for (const row of codesAfter.iterate(last)) {
      const [vector, code] = row as unknown as [number, Uint8Array]
      vectors[i] = vector
      bytes.set(code, i * wordsEach * WORD_BYTES)
      i += 1
    }
    held = { vectors, words, wordsEach }
    return held
  }

  const kept = (): number | null => numberIn(dimensions.get())

  return {
    dimensions: kept,
    unembedded: (limit: number): Awaited<ReturnType<PassageVectors['unembedded']>> =>
      (unembedded.all(limit) as unknown as [string][]).map(([digest]) => {
        const [data] = textOf.get(digest) as unknown as [string]
        const { headings, text } = JSON.parse(data) as NewPassage
        return { digest, headings, text }
      }),
    put(vectors: readonly NewVector[]): void {
      refuseOtherDimensions(kept(), vectors)
      for (const { digest, code, bytes, floats } of vectors) {
        const old = numberIn(removeCode.get(digest))
        if (old !== null) {
          removeVector.run(old)
          // A number may have gone to another vector.
          held = null
        }
        const vector = addCode.run(digest, code).lastInsertRowid
        addVector.run(vector, viewOf(bytes), viewOf(floats))
        markEmbedded.run(digest)
      }
    },
    nearest(code: Uint8Array, most: number): string[] {
      if (Math.ceil((kept() ?? 0) / 8) !== code.length) return []
      const codes = heldCodes(code.length)
      const distances = distancesTo(code, codes)
      // Some vectors may be of passages that are gone, so it looks further if there are too few.
      for (let n = most; ; n *= 4) {
        const last = nthDistance(distances, n)
        const near = new Map<number, number>()
        for (let i = 0; i < distances.length; i += 1) {
          const distance = distances[i] ?? 0
          if (distance <= last) near.set(codes.vectors[i] ?? 0, distance)
        }
        const rows = passagesOf.all(`[${[...near.keys()].join()}]`) as unknown as [number, string][]
        if (rows.length < most && near.size < distances.length) continue
        return rows
          .sort(([one, a], [other, b]) => (near.get(one) ?? 0) - (near.get(other) ?? 0) || (a < b ? -1 : 1))
          .slice(0, most)
          .map(([, id]) => id)
      }
    },
    bytesOf: (ids: readonly string[]): Map<string, Int8Array> =>
      found(
        ids,
        (id) => bytesOf.get(id),
        (bytes) => new Int8Array(bytes),
      ),
    floatsOf: (ids: readonly string[]): Map<string, Float32Array> =>
      found(
        ids,
        (id) => floatsOf.get(id),
        (bytes) => new Float32Array(bytes),
      ),
    sweep(all: boolean): void {
      for (const statement of all ? sweepsOfAll : sweeps) statement.run()
      if (all) markAllUnembedded.run()
      held = null
    },
    forget(): void {
      held = null
    },
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Int8Array | Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

function found<T>(
  ids: readonly string[],
  read: (id: string) => Record<string, SQLOutputValue> | undefined,
  toVector: (bytes: ArrayBuffer) => T,
): Map<string, T> {
  const vectors = new Map<string, T>()
  for (const id of ids) {
    const row = read(id) as unknown as [Uint8Array<ArrayBuffer>] | undefined
    if (row !== undefined) vectors.set(id, toVector(row[0].slice().buffer))
  }
  return vectors
}

/** In how many bits each code differs. */
function distancesTo(code: Uint8Array, { vectors, words, wordsEach }: Codes): Uint32Array {
  const asked = new Uint32Array(wordsEach)
  new Uint8Array(asked.buffer).set(code)
  const distances = new Uint32Array(vectors.length)
  let at = 0
  for (let i = 0; i < distances.length; i += 1) {
    let distance = 0
    for (let word = 0; word < wordsEach; word += 1, at += 1) {
      // Counts the bits of pairs, then of fours, then of bytes, then of all four.
      let bits = (words[at] ?? 0) ^ (asked[word] ?? 0)
      bits -= (bits >>> 1) & 0x55555555
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
      distance += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
    }
    distances[i] = distance
  }
  return distances
}

/** The distance of the n-th nearest, or of the last. */
function nthDistance(distances: Uint32Array, n: number): number {
  const counts: number[] = []
  for (let i = 0; i < distances.length; i += 1) {
    const distance = distances[i] ?? 0
    counts[distance] = (counts[distance] ?? 0) + 1
  }
  let seen = 0
  for (const [distance, count = 0] of counts.entries()) {
    seen += count
    if (seen >= n) return distance
  }
  return counts.length
}
