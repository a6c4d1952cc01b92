// One search: a store finds candidates, BM25 ranks them by words, vectors by meaning, and both lists become one. What files do not say
// any more is left out, and neighbours that belong to a hit come along.

import type { KnowledgeStore, KnownPassage } from '../store/ports/knowledge.ts'
import { passageOf } from './create-work.ts'
import type { Hit } from './knowledge.ts'
import type { Query } from './knowledge-work.ts'
import { rankByWords } from './rank/bm25.ts'
import { candidateWords } from './rank/candidate-words.ts'
import { type Fused, fuse } from './rank/fuse.ts'
import { nearestByMeaning } from './rank/nearest-by-meaning.ts'
import type { Ranked } from './rank/ranked.ts'
import type { Analyzer } from './words/analyze.ts'

export interface SearchDeps {
  store: KnowledgeStore
  analyzer: Analyzer
  /** Those that their files still say, in the same order. */
  current(found: KnownPassage[]): Promise<KnownPassage[]>
}

/** Candidates that are ranked by words. */
const MOST_CANDIDATES = 1_000
/** Of each list. What comes further behind cannot reach the first places of both together. */
const MOST_FUSED = 200

export async function searchIndex(
  deps: SearchDeps,
  index: string,
  { text, vector, most }: Omit<Query, 'checked'>,
): Promise<Hit[]> {
  const { store } = deps
  const words = (await byWords(deps, index, text)).slice(0, MOST_FUSED)
  const meaning = vector === null ? [] : await nearestByMeaning(store, index, vector)
  const found = meaning.length === 0 ? placed(words) : fuse(idsOf(words), idsOf(meaning))
  const hits: { rank: Fused; passage: KnownPassage }[] = []
  // More are read only where some have changed since they were read.
  for (let from = 0; hits.length < most && from < found.length; from += most) {
    const ranks = new Map(found.slice(from, from + most).map((one) => [one.id, one]))
    for (const passage of await deps.current(await store.passages(index, [...ranks.keys()]))) {
      const rank = ranks.get(passage.id)
      if (rank !== undefined && hits.length < most) hits.push({ rank, passage })
    }
  }
  return withNeighbours(deps, index, hits)
}

const idsOf = (ranked: readonly Ranked[]): string[] => ranked.map(({ id }) => id)
const placed = (ranked: readonly Ranked[]): Fused[] =>
  ranked.map((one, i) => ({ ...one, byWords: i + 1, byMeaning: null }))

async function byWords({ store, analyzer }: SearchDeps, index: string, text: string): Promise<Ranked[]> {
  const figures = await store.figures(index)
  const asked = analyzer.queryTerms(text, figures.languages)
  if (asked.length === 0 || figures.passages === 0) return []
  const terms = asked.map(({ term }) => term)
  const frequencies = await store.frequencies(index, terms)
  const counted = asked.map((one, i) => ({ ...one, frequency: frequencies[i] ?? 0 }))
  const finding = candidateWords(counted, figures.passages)
  if (finding.length === 0) return []
  const candidates = await store.candidates(index, finding, terms, MOST_CANDIDATES)
  return rankByWords(candidates, counted, figures)
}

/** A list, a table or a paragraph that goes on in the next passage, or came from the one before, comes with it. */
async function withNeighbours(
  { store, current }: SearchDeps,
  index: string,
  hits: readonly { rank: Fused; passage: KnownPassage }[],
): Promise<Hit[]> {
  const shown = new Set(hits.map(({ passage }) => passage.id))
  const all: Hit[] = []
  for (const { rank, passage } of hits) {
    const { score, byWords, byMeaning } = rank
    all.push({ passage: passageOf(passage), score, byWords, byMeaning })
    const around = await store.around(index, passage.id, 1, 1)
    const at = around.findIndex(({ id }) => id === passage.id)
    const [before, after] = [around[at - 1], around[at + 1]]
    const belong = [
      ...(before !== undefined && passage.continues ? [before] : []),
      ...(after?.continues === true ? [after] : []),
    ].filter(({ id }) => !shown.has(id))
    for (const neighbour of await current(belong)) {
      shown.add(neighbour.id)
      all.push({ passage: passageOf(neighbour), score: null, byWords: null, byMeaning: null })
    }
  }
  return all
}
