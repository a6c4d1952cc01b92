import type { PassageVectors } from '../../store/ports/knowledge.ts'
import { quantize } from './quantize.ts'
import { bestFirst, type Ranked } from './ranked.ts'

/** So many are compared by their bytes, and the best of them by their floats. */
const BY_BYTES = 1_000
const BY_FLOATS = 50

/** The passages nearest to a question in meaning, at most 50. The vector has as many dimensions as those of the index. */
export async function nearestByMeaning(
  vectors: Pick<PassageVectors, 'nearest' | 'bytesOf' | 'floatsOf'>,
  index: string,
  question: Float32Array,
): Promise<Ranked[]> {
  const { code, floats } = quantize(question)
  const near = await vectors.nearest(index, code, BY_BYTES)
  const nearer = ranked(await vectors.bytesOf(index, near), (bytes) => product(floats, bytes) / lengthOf(bytes))
  const best = nearer.slice(0, BY_FLOATS).map(({ id }) => id)
  return ranked(await vectors.floatsOf(index, best), (own) => product(floats, own))
}

const ranked = <T>(vectors: ReadonlyMap<string, T>, scoreOf: (vector: T) => number): Ranked[] =>
  [...vectors].map(([id, vector]) => ({ id, score: scoreOf(vector) })).sort(bestFirst)

function product(question: Float32Array, other: Float32Array | Int8Array): number {
  let sum = 0
  for (let i = 0; i < question.length; i += 1) sum += (question[i] ?? 0) * (other[i] ?? 0)
  return sum
}

/** At least 1, also of a vector of zeros, which is like nothing. */
function lengthOf(bytes: Int8Array): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i += 1) sum += (bytes[i] ?? 0) ** 2
  return Math.max(1, Math.sqrt(sum))
}
