// An embedding without a model: texts that share many groups of letters are alike. It finds inflected and misspelt words, and knows
// nothing of what they mean. It shows that the path works, in tests and in the first minute, and says nothing about its quality.

import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import type { EmbeddingSource } from './resilient-embedding.ts'

const DIMENSIONS = 256
const GROUPS = [3, 4] as const

/** Needs no network. The same text always gives the same vector. */
export function createDemoEmbedding({
  name,
  dimensions,
}: Pick<EmbeddingSettings, 'name' | 'dimensions'>): EmbeddingSource {
  return {
    provider: 'demo',
    name,
    host: 'this server',
    most: { texts: 256, tokens: 100_000 },
    ask: async (texts) => ({
      vectors: texts.map((text) => vectorOf(text, dimensions ?? DIMENSIONS)),
      inputTokens: undefined,
    }),
  }
}

function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0)
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  for (const word of folded.match(/[\p{L}\p{N}]+/gu) ?? []) {
    const letters = ` ${word} `
    for (const size of GROUPS) {
      for (let i = 0; i + size <= letters.length; i += 1) {
        const hash = hashOf(letters, i, size)
        const at = (hash >>> 1) % dimensions
        // Groups that fall on the same place by chance cancel each other out as often as not.
        vector[at] = (vector[at] ?? 0) + (hash & 1 ? 1 : -1)
      }
    }
  }
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((one) => one / length)
}

/** FNV-1a, its bits mixed once more, because the last ones decide. */
function hashOf(text: string, from: number, size: number): number {
  let hash = 0x811c9dc5
  for (let i = from; i < from + size; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
}
