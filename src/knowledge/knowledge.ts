// The port of knowledge: what tools, routes and commands ask of an index of documents.

import type { KnowledgeToolSettings } from '../domain/agent/tool-settings.ts'
import type { Passage } from '../domain/knowledge/passage.ts'
import type { TokenUsage } from '../domain/session/event.ts'

/** What decides what an index holds. Tools with the same have one index. */
export type IndexSettings = Pick<KnowledgeToolSettings, 'sources' | 'directory' | 'folders' | 'ignore' | 'embedding'>

export interface Knowledge {
  /** Throws if no tool of an agent has these settings. */
  of(settings: IndexSettings): KnowledgeIndex
  /** Each index once. */
  readonly all: readonly KnowledgeIndex[]
}

export interface KnowledgeIndex {
  /** Begins with letters, and is the same on every server with the same settings. */
  readonly id: string
  readonly settings: IndexSettings
  /**
   * The best passages first, each followed by the neighbours that belong to it. Only what the files say now: a file that has changed
   * since it was read is left out until it is read again.
   */
  search(query: string, most: number, signal: AbortSignal): Promise<Found>
  /** The passage with its neighbours, in order. Empty: it is unknown, or the file does not say it any more. */
  around(id: string, before: number, after: number): Promise<Passage[]>
  /** Of these passages, those that the files still say. */
  now(ids: readonly string[]): Promise<ReadonlyMap<string, Passage>>
  status(): Promise<IndexStatus>
  /** Looks for changes now. Resolves when they are in the index. */
  update(signal: AbortSignal): Promise<void>
  /** Removes everything, also what was embedded. The next update reads all of it again. */
  clear(): Promise<void>
}

export interface Found {
  hits: readonly Hit[]
  /** Of the embedding of the query. */
  usage: readonly TokenUsage[]
  /** What could not be searched, in sentences: files that are not read yet, an embedding that does not answer. */
  lacks: readonly string[]
}

export interface Hit {
  passage: Passage
  /** The higher the better. Null: it is there because it belongs to the hit before it. */
  score: number | null
  /** Its place among what the words alone found, from 1; null: they did not find it. */
  byWords: number | null
  /** The same for the meaning. */
  byMeaning: number | null
}

export const indexStates = ['waiting', 'indexing', 'ready', 'failed'] as const

export interface IndexStatus {
  id: string
  /** `waiting`: nobody has looked at the files yet. `failed`: `why` says what keeps it from going on; it is tried again. */
  state: (typeof indexStates)[number]
  why: string | null
  /** Sources as the file of the agent names them. */
  sources: readonly string[]
  files: number
  passages: number
  /** Passages with a vector; null: no embedding is configured. */
  embedded: number | null
  embedding: string | null
  /** Of the update that is under way. */
  progress: { done: number; total: number; phase: 'reading' | 'embedding' } | null
  /** When it last knew all files as they were; epoch ms. Null: never yet. */
  updatedAt: number | null
  /** Files that could not be read, or not as a whole, and why. The first 1,000. */
  problems: readonly { file: string; why: string }[]
  /** How many there are. */
  problemCount: number
}
