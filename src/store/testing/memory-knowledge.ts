// Knowledge as plain maps: the model that the stores are compared with. Simple rather than quick.

import type { Passage } from '../../domain/knowledge/passage.ts'
import { refuseLongPath, refuseOtherDimensions, unknownDocument } from '../knowledge-refusals.ts'
import type {
  KnowledgeStore,
  KnownFile,
  KnownPassage,
  NewDocument,
  NewPassage,
  NewVector,
  WeightedWord,
} from '../ports/knowledge.ts'
import { toStored } from '../tables/stored-text.ts'

interface KeptDocument {
  language: string
  parts: { passage: KeptPassage; continues: boolean }[]
  paths: Set<string>
}

interface KeptPassage {
  said: Omit<Passage, 'file'>
  counts: ReadonlyMap<number, number>
  length: number
  digest: string
  documents: Set<KeptDocument>
}

interface Index {
  files: Map<string, KnownFile>
  documents: Map<string, KeptDocument>
  passages: Map<string, KeptPassage>
  postings: Map<number, Set<KeptPassage>>
  vectors: Map<string, NewVector>
}

export function createMemoryKnowledge(): KnowledgeStore {
  const indexes = new Map<string, Index>()
  const of = (name: string): Index => indexes.get(name) ?? newIndex()
  function made(name: string): Index {
    const index = of(name)
    indexes.set(name, index)
    return index
  }

  return {
    files: async (name, after, limit) =>
      inOrder(of(name).files)
        .filter(({ path }) => byBytes(path, after) > 0)
        .slice(0, limit),
    known: async (name, documents) => new Set(documents.filter((one) => of(name).documents.has(one))),
    async put(name, file, document) {
      refuseLongPath(file.path)
      const { document: content, path } = file
      const known = content !== null && of(name).documents.has(content)
      if (content !== null && document === null && !known) throw unknownDocument(path)
      const index = made(name)
      const before = index.files.get(path)?.document ?? null
      if (content !== null && document !== null && !known) addDocument(index, content, document)
      index.files.set(path, { ...file })
      if (content !== null) index.documents.get(content)?.paths.add(path)
      if (before !== content) leave(index, before, path)
    },
    async remove(name, paths) {
      const index = of(name)
      for (const path of paths) {
        const before = index.files.get(path)?.document ?? null
        index.files.delete(path)
        leave(index, before, path)
      }
    },
    async figures(name) {
      const { files, documents, passages, vectors } = of(name)
      const all = [...passages.values()]
      return {
        files: files.size,
        problems: [...files.values()].filter(({ problem }) => problem !== null).length,
        passages: all.length,
        length: all.reduce((sum, { length }) => sum + length, 0),
        embedded: all.filter(({ digest }) => vectors.has(digest)).length,
        languages: [...new Set([...documents.values()].map(({ language }) => language))].sort(byBytes),
      }
    },
    problems: async (name, limit) =>
      inOrder(of(name).files)
        .filter(({ problem }) => problem !== null)
        .slice(0, limit),
    indexes: async () => [...indexes.keys()].sort(byBytes),
    clear: async (name) => void indexes.delete(name),

    frequencies: async (name, terms) => terms.map((term) => of(name).postings.get(term)?.size ?? 0),
    async candidates(name, words, counted, most) {
      return bestOf(sumsOf(of(name), words), -1, most).map(({ said: { id }, length, counts }) => ({
        id,
        length,
        counts: counted.map((term) => counts.get(term) ?? 0),
      }))
    },
    passages: async (name, ids) => ids.flatMap((id) => around(of(name), id, 0, 0)),
    around: async (name, id, before, after) => around(of(name), id, before, after),

    async unembedded(name, limit) {
      const { passages, vectors } = of(name)
      const found = new Map<string, KeptPassage>()
      for (const passage of passages.values()) {
        const other = found.get(passage.digest)
        if (vectors.has(passage.digest) || (other !== undefined && other.said.id < passage.said.id)) continue
        found.set(passage.digest, passage)
      }
      return [...found]
        .sort(([one], [other]) => byBytes(one, other))
        .slice(0, limit)
        .map(([digest, { said }]) => ({ digest, headings: said.headings, text: said.text }))
    },
    async putVectors(name, vectors) {
      refuseOtherDimensions(dimensionsOf(of(name)), vectors)
      for (const { digest, code, bytes, floats } of vectors) {
        const copy = { digest, code: code.slice(), bytes: bytes.slice(), floats: floats.slice() }
        made(name).vectors.set(digest, copy)
      }
    },
    dimensions: async (name) => dimensionsOf(of(name)),
    async nearest(name, code, most) {
      const { passages, vectors } = of(name)
      const distances = new Map<KeptPassage, number>()
      for (const passage of passages.values()) {
        const kept = vectors.get(passage.digest)?.code
        if (kept?.length === code.length) distances.set(passage, differentBits(kept, code))
      }
      return bestOf(distances, 1, most).map(({ said }) => said.id)
    },
    bytesOf: async (name, ids) => vectorsOf(of(name), ids, ({ bytes }) => bytes),
    floatsOf: async (name, ids) => vectorsOf(of(name), ids, ({ floats }) => floats),
    async sweepVectors(name, all) {
      const { passages, vectors } = of(name)
      const used = new Set(all ? [] : [...passages.values()].map(({ digest }) => digest))
      for (const digest of vectors.keys()) if (!used.has(digest)) vectors.delete(digest)
    },
    rest() {},
    async close() {},
  }
}

const newIndex = (): Index => ({
  files: new Map(),
  documents: new Map(),
  passages: new Map(),
  postings: new Map(),
  vectors: new Map(),
})

/** As the databases order texts. */
const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(toStored(one)), Buffer.from(toStored(other)))

const inOrder = (files: ReadonlyMap<string, KnownFile>): KnownFile[] =>
  [...files.values()].sort((one, other) => byBytes(one.path, other.path)).map((file) => ({ ...file }))

function addDocument(index: Index, name: string, { language, passages }: NewDocument): void {
  const document: KeptDocument = { language, parts: [], paths: new Set() }
  for (const one of passages) {
    const passage = index.passages.get(one.id) ?? addPassage(index, one)
    passage.documents.add(document)
    document.parts.push({ passage, continues: one.continues })
  }
  index.documents.set(name, document)
}

function addPassage(
  { passages, postings }: Index,
  { terms, counts, length, digest, ...said }: NewPassage,
): KeptPassage {
  const { id, place, headings, text } = said
  const passage: KeptPassage = {
    said: { id, place: { ...place }, headings: [...headings], text },
    counts: new Map(Array.from(terms, (term, i) => [term, counts[i] ?? 0])),
    length,
    digest,
    documents: new Set(),
  }
  passages.set(id, passage)
  for (const term of terms) {
    const having = postings.get(term) ?? new Set()
    postings.set(term, having.add(passage))
  }
  return passage
}

/** A file does not have this content any more. */
function leave({ documents, passages, postings }: Index, name: string | null, path: string): void {
  const document = name === null ? undefined : documents.get(name)
  if (name === null || document === undefined) return
  document.paths.delete(path)
  if (document.paths.size > 0) return
  documents.delete(name)
  for (const { passage } of document.parts) {
    passage.documents.delete(document)
    if (passage.documents.size > 0) continue
    passages.delete(passage.said.id)
    for (const term of passage.counts.keys()) {
      const having = postings.get(term)
      having?.delete(passage)
      if (having?.size === 0) postings.delete(term)
    }
  }
}

function sumsOf({ postings }: Index, words: readonly WeightedWord[]): Map<KeptPassage, number> {
  const sums = new Map<KeptPassage, number>()
  for (const { terms, weight } of words) {
    const having = new Set(terms.flatMap((term) => [...(postings.get(term) ?? [])]))
    for (const passage of having) sums.set(passage, (sums.get(passage) ?? 0) + weight)
  }
  return sums
}

/** By their values, rising with `sign` 1, falling with -1, then by id. */
const bestOf = (values: ReadonlyMap<KeptPassage, number>, sign: 1 | -1, most: number): KeptPassage[] =>
  [...values]
    .sort(([one, a], [other, b]) => sign * (a - b) || byBytes(one.said.id, other.said.id))
    .slice(0, most)
    .map(([passage]) => passage)

function around({ files, passages }: Index, id: string, before: number, after: number): KnownPassage[] {
  const passage = passages.get(id)
  const places = [...(passage?.documents ?? [])].flatMap((document) =>
    [...document.paths].map((path) => ({ document, path })),
  )
  const [first] = places.sort((one, other) => byBytes(one.path, other.path))
  const file = files.get(first?.path ?? '')
  if (first === undefined || file === undefined) return []
  const { parts } = first.document
  const at = parts.findIndex((part) => part.passage === passage)
  return parts.slice(Math.max(0, at - before), at + after + 1).map(({ passage: { said }, continues }) => ({
    ...said,
    file: file.path,
    continues,
    bytes: file.bytes,
    changedMs: file.changedMs,
  }))
}

const dimensionsOf = ({ vectors }: Index): number | null => vectors.values().next().value?.floats.length ?? null

function differentBits(one: Uint8Array, other: Uint8Array): number {
  let bits = 0
  for (let i = 0; i < one.length; i += 1) {
    for (let left = (one[i] ?? 0) ^ (other[i] ?? 0); left > 0; left &= left - 1) bits += 1
  }
  return bits
}

function vectorsOf<T>(
  { passages, vectors }: Index,
  ids: readonly string[],
  part: (vector: NewVector) => T,
): Map<string, T> {
  const found = new Map<string, T>()
  for (const id of ids) {
    const vector = vectors.get(passages.get(id)?.digest ?? '')
    if (vector !== undefined) found.set(id, part(vector))
  }
  return found
}
