// What is kept of documents, so that agents find passages in them: files, passages with the counts of their terms, and vectors. All of it
// can be made again from the files. A store finds candidates; `src/knowledge` ranks them, so that all stores order alike.

import type { Passage } from '../../domain/knowledge/passage.ts'

/**
 * Each method works on one index: the name of a set of sources with one way of reading them. Any text can be stored and comes back as it
 * was. Orders are by UTF-8 byte; what is not well-formed Unicode, or has a NUL, comes first.
 */
export interface KnowledgeStore extends KnownFiles, PassageRows, PassageVectors {
  /** Frees what is held for speed. */
  rest(): void
  close(): Promise<void>
}

/** A longer path is refused with `invalid_request`. In UTF-8; what is not well-formed takes more. */
export const MOST_PATH_BYTES = 2_000

/** A file as it was when it was read. */
export interface KnownFile {
  /** Relative to its source, with `/`. Unique in the index. */
  path: string
  bytes: number
  /** When anything about it changed last, by the disk (`ctime`): no program can set this time. */
  changedMs: number
  /** Names its content. Files with the same content share it. Null: it could not be read. */
  document: string | null
  /** Why it could not be read, or what of it is missing, in a sentence for people. Null: nothing is wrong. */
  problem: string | null
}

export interface NewDocument {
  /** As `src/knowledge/words` names them. */
  language: string
  passages: readonly NewPassage[]
}

/**
 * An id stands for all that a passage says: where two documents have the same id, or one has it twice, they share the passage, and it is
 * found and counted once. Ids and digests are ASCII.
 */
export interface NewPassage extends Omit<Passage, 'file'> {
  /** It goes on where the passage before it ends: in the same list, table or code. */
  continues: boolean
  /** Terms as 32-bit numbers, in rising order, and how often each occurs (255 at most). A store knows nothing of languages. */
  terms: Uint32Array
  counts: Uint8Array
  /** How many terms it has in all, each as often as it occurs. */
  length: number
  /** Of what is embedded. Passages with the same digest share a vector. */
  digest: string
}

export interface IndexFigures {
  files: number
  /** Files with a problem. */
  problems: number
  passages: number
  /** Sum of the lengths of all passages. */
  length: number
  /** Passages that have a vector. */
  embedded: number
  /** In order. */
  languages: readonly string[]
}

export interface KnownFiles {
  /** In the order of their paths, after `after`. */
  files(index: string, after: string, limit: number): Promise<KnownFile[]>
  /** Of these documents, those that are known. */
  known(index: string, documents: readonly string[]): Promise<Set<string>>
  /**
   * Replaces what is kept of a file, in one transaction: no search ever finds a part of it, or the old and the new. `document`: what
   * `file.document` names, if it may be unknown. A document that no file has any more goes in the same transaction.
   *
   * Throws `conflict` and changes nothing if `document` is null and what `file.document` names is unknown.
   */
  put(index: string, file: KnownFile, document: NewDocument | null): Promise<void>
  /** In one transaction. */
  remove(index: string, paths: readonly string[]): Promise<void>
  figures(index: string): Promise<IndexFigures>
  /** Files with a problem, in the order of their paths. */
  problems(index: string, limit: number): Promise<KnownFile[]>
  /** The names of all indexes, in order. An index is there from its first `put` or `putVectors` until it is cleared. */
  indexes(): Promise<string[]>
  clear(index: string): Promise<void>
}

/** A word of a question. */
export interface WeightedWord {
  /** Its forms. A passage has the word if it has one of them. No two words have the same. */
  terms: readonly number[]
  /** A whole number above 0, so that sums are the same in every store. */
  weight: number
}

export interface Candidate {
  id: string
  length: number
  /** How often it has each of the asked terms, in their order. */
  counts: readonly number[]
}

/** A passage with a file that says it. */
export interface KnownPassage extends Passage {
  continues: boolean
  /** Of the file as it was when it was read. */
  bytes: number
  changedMs: number
}

export interface PassageRows {
  /** For each term, how many passages have it. */
  frequencies(index: string, terms: readonly number[]): Promise<number[]>
  /**
   * The passages with the largest sum of weights of the words that they have; equal sums by id. Of each, the counts of all terms in
   * `counted`.
   */
  candidates(
    index: string,
    words: readonly WeightedWord[],
    counted: readonly number[],
    most: number,
  ): Promise<Candidate[]>
  /** In the order of `ids`, without the unknown. Of several files that say it, the first by path. */
  passages(index: string, ids: readonly string[]): Promise<KnownPassage[]>
  /** The passage with up to so many before and after it in that file, in order. Empty: it is unknown. */
  around(index: string, id: string, before: number, after: number): Promise<KnownPassage[]>
}

export interface NewVector {
  digest: string
  /** One bit for each dimension: whether it is positive. */
  code: Uint8Array
  /** Eight bits for each dimension. The scale is not kept: only the order of products counts. */
  bytes: Int8Array
  floats: Float32Array
}

export interface PassageVectors {
  /** Passages without a vector, each digest once, in their order. */
  unembedded(index: string, limit: number): Promise<{ digest: string; headings: readonly string[]; text: string }[]>
  /** Replaces those with the same digest. Throws `conflict`, and stores none, if one has other dimensions than those that are kept. */
  putVectors(index: string, vectors: readonly NewVector[]): Promise<void>
  /** Null: there are none. */
  dimensions(index: string): Promise<number | null>
  /** The passages whose codes differ in the fewest bits; equal ones by id. Empty if the kept codes have another length. */
  nearest(index: string, code: Uint8Array, most: number): Promise<string[]>
  /** Without the unknown. */
  bytesOf(index: string, ids: readonly string[]): Promise<Map<string, Int8Array>>
  floatsOf(index: string, ids: readonly string[]): Promise<Map<string, Float32Array>>
  /** Removes vectors that no passage has any more. With `all`, every one. */
  sweepVectors(index: string, all: boolean): Promise<void>
}
