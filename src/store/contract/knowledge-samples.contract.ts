// Documents for the contract of knowledge.

import type { KnowledgeStore, KnownFile, NewDocument, NewPassage, NewVector } from '../ports/knowledge.ts'

export const noPlace = { page: null, sheet: null, slide: null, line: null }

/** `terms` by their numbers, each with its count. */
export function passage(id: string, terms: Record<number, number> = {}, more: Partial<NewPassage> = {}): NewPassage {
  const pairs = Object.entries(terms)
    .map(([term, count]) => [Number(term), count] as const)
    .sort(([one], [other]) => one - other)
  return {
    id,
    place: { ...noPlace, line: 3 },
    headings: ['Handbook', `On ${id}`],
    text: `What is said of ${id}.`,
    continues: false,
    terms: Uint32Array.from(pairs, ([term]) => term),
    counts: Uint8Array.from(pairs, ([, count]) => count),
    length: pairs.reduce((sum, [, count]) => sum + count, 0),
    digest: `digest of ${id}`,
    ...more,
  }
}

export const document = (...passages: NewPassage[]): NewDocument => ({ language: 'en', passages })

export const file = (path: string, content: string | null, problem: string | null = null): KnownFile => ({
  path,
  bytes: path.length,
  changedMs: 1_800_000_000_000.25 + path.length,
  document: content,
  problem,
})

const DIMENSIONS = 20

/** A vector whose first 8 bits of the code are `code`. */
export function vector(digest: string, code: number, dimensions = DIMENSIONS): NewVector {
  const floats = Float32Array.from({ length: dimensions }, (_, i) => Math.fround(code / 7 - i * 0.3))
  return { digest, code: codeOf(code, dimensions), bytes: Int8Array.from(floats, (x) => Math.round(x * 3)), floats }
}

export function codeOf(code: number, dimensions = DIMENSIONS): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(dimensions / 8))
  bytes[0] = code
  bytes[bytes.length - 1] = code >> 8
  return bytes
}

/** What the random documents below are made of. */
export const someTerms = [0, 1, 2, 77, 1_000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]
export const somePaths = [
  'a.md',
  'b/c.md',
  'b.md',
  'ä.md',
  '\uffee',
  '😀.md',
  "'; --",
  '\\',
  'x\0y',
  '\ud800',
  '\u0001',
]
export const someDocuments = Array.from({ length: 8 }, (_, i) => `document ${i}`)
const IDS = 14

/** A name stands for its content, as an id does. They share passages, and one has the same twice. */
export function randomDocument(name: string): NewDocument {
  const random = randomFrom(name)
  const passages = Array.from({ length: 1 + (random() % 5) }, (_, i) => {
    const id = random() % IDS
    return { ...randomPassage(id), continues: i % 2 === 1 }
  })
  return { language: ['de', 'en', 'zh'][random() % 3] ?? '', passages }
}

function randomPassage(id: number): NewPassage {
  const random = randomFrom(`passage ${id}`)
  const terms = someTerms.filter(() => random() % 2 === 0).map((term) => [term, 1 + (random() % 255)])
  return passage(`p${id}`, Object.fromEntries(terms), { digest: `digest ${id % 6}` })
}

export const someVectors = Array.from({ length: 8 }, (_, i) => vector(`digest ${i}`, (i % 3) * 5))

function randomFrom(text: string): () => number {
  let seed = 7
  for (const char of text) seed = (Math.imul(seed, 31) + char.charCodeAt(0)) >>> 0
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed >>> 8
  }
}

/** What a store answers to every question about these documents. */
export async function answersOf(store: KnowledgeStore, index: string) {
  const ids = Array.from({ length: IDS + 1 }, (_, i) => `p${i}`)
  const asked = someTerms.slice(1, 5).map((term, i) => ({ terms: [term], weight: [3, 1, 2, 3][i] ?? 1 }))
  const all = someTerms.map((term) => ({ terms: [term], weight: 1 }))
  const words = [
    { terms: someTerms.slice(0, 3), weight: 5 },
    { terms: someTerms.slice(3, 5), weight: 3 },
  ]
  return {
    indexes: await store.indexes(),
    files: await store.files(index, '', 100),
    someFiles: await store.files(index, 'b.md', 3),
    problems: await store.problems(index, 2),
    known: [...(await store.known(index, someDocuments))].sort(),
    figures: await store.figures(index),
    frequencies: await store.frequencies(index, someTerms),
    candidates: await store.candidates(index, asked, [...someTerms, 5], 100),
    fewCandidates: await store.candidates(index, asked, [77], 4),
    wordCandidates: await store.candidates(index, words, someTerms, 100),
    tiedCandidates: await store.candidates(index, all.slice(0, 1), [], 2),
    passages: await store.passages(index, ids),
    around: await Promise.all(ids.map((id) => store.around(index, id, 1, 2))),
    unembedded: await store.unembedded(index, 4),
    dimensions: await store.dimensions(index),
    nearest: await store.nearest(index, codeOf(0b101), 100),
    fewNearest: await store.nearest(index, codeOf(0b1), 3),
    bytes: [...(await store.bytesOf(index, ids))].sort(byId),
    floats: [...(await store.floatsOf(index, ids))].sort(byId),
  }
}

const byId = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => (one < other ? -1 : 1)
