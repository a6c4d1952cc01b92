// The work on indexes: reading, searching, keeping. It is done off the server's event loop, so what goes in and out is plain data.

import type { Passage } from '../domain/knowledge/passage.ts'
import type { IndexFigures, KnownFile } from '../store/ports/knowledge.ts'
import type { Hit } from './knowledge.ts'

export interface KnowledgeWork {
  /** Brings an index up to date with the files. A failure of single files is in `look`; it throws what keeps it from going on. */
  update(index: string): Promise<Updated>
  /** Ends the updates that are under way. What they have done stays. */
  stop(): Promise<void>
  /**
   * `vector`: of the query, null if its words alone are looked for. With `checked`, only what the files on this machine say now:
   * `hasLeftOut` if it found more, in files that have changed or are gone.
   */
  search(index: string, query: Query): Promise<{ hits: Hit[]; hasLeftOut: boolean }>
  around(index: string, place: { id: string; before: number; after: number; checked: boolean }): Promise<Passage[]>
  now(index: string, ids: readonly string[], checked: boolean): Promise<Passage[]>
  look(index: string): Promise<{ figures: IndexFigures; problems: KnownFile[] }>
  clear(index: string): Promise<void>
  /** Removes indexes that no agent has any more. */
  keepOnly(indexes: readonly string[]): Promise<void>
}

export interface Query {
  text: string
  vector: Float32Array | null
  most: number
  checked: boolean
}

export interface Updated {
  /** Absolute paths of the folders that were walked. */
  folders: readonly string[]
  /** Files that were read. */
  read: number
  removed: number
  /** Files that could not be read. */
  problems: number
  /** What is missing although all files are known: the embedding has failed. Null: nothing. */
  why: string | null
  /** Some files may be readable in a moment, although nothing changes. */
  isPassing: boolean
}

/** What the work says and asks while it goes on. */
export interface WorkListener {
  progress(index: string, progress: { done: number; total: number; phase: 'reading' | 'embedding' }): void
  /** Vectors of passages; it waits for a provider that limits. Throws what the provider says. */
  embed(index: string, texts: readonly string[]): Promise<Float32Array[]>
}
