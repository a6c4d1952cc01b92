// The work on indexes, put together: a store, the readers of files, and what cuts, ranks and searches.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { untilAborted } from '../../domain/abort.ts'
import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { createFileReader, readerLimits } from '../../files/reader/create-file-reader.ts'
import { childProgram } from '../../files/reader/reader-child.ts'
import type { WorkPlace } from '../../knowledge/create-knowledge.ts'
import { createWork, type IndexedSettings } from '../../knowledge/create-work.ts'
import type { IndexSettings } from '../../knowledge/knowledge.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'
import { createPrepare, PREPARED_VERSION } from '../../knowledge/prepare-document.ts'
import { quantize } from '../../knowledge/rank/quantize.ts'
import { createEmbedder } from '../../knowledge/update/embed-passages.ts'
import { changesOf, type Estimate, estimate } from '../../knowledge/update/estimate.ts'
import { createDocumentReader } from '../../knowledge/update/read-document.ts'
import { createUpdater } from '../../knowledge/update/update-index.ts'
import { createAnalyzer } from '../../knowledge/words/analyze.ts'
import type { Embedding } from '../../models/embedding/embedding.ts'
import type { KnowledgeStore } from '../../store/ports/knowledge.ts'

/** Plain data, because it goes to a thread. */
export interface WorkSettings {
  store: { kind: 'sqlite'; path: string; readOnly: boolean } | { kind: 'postgres'; url: string; waitMs: number }
  /** Where the readers of files keep what they have read. */
  cacheDir: string
  indexes: readonly WorkIndex[]
  /** Absolute paths of folders that are never read, such as the data directory. */
  excluded: readonly string[]
}

interface WorkIndex extends Pick<IndexSettings, 'sources' | 'directory' | 'folders' | 'ignore'> {
  id: string
  /** Null: words alone. */
  embedding: (Pick<Embedding, 'provider' | 'name' | 'most'> & Pick<EmbeddingSettings, 'price'>) | null
}

export interface OpenWork extends WorkPlace {
  /** How many files are new, changed or gone since the last update. */
  changes(index: string): Promise<number>
  /** What an update would read and embed. The index stays as it is. */
  estimate(index: string): Promise<Estimate>
}

/** Connections to Postgres for searches. */
const READERS = 2
/** Small, because each file is read once: its passages are kept in the store. */
const CACHE_BYTES = 20_000_000

export async function openWork(
  { store: kind, cacheDir, indexes, excluded }: WorkSettings,
  { listener, log }: { listener: WorkListener; log: Logger },
): Promise<OpenWork> {
  const clock = createSystemClock()
  const store = await openKnowledgeStore(kind, clock, log)
  const reader = createFileReader({
    cacheDir,
    clock,
    log,
    environment: process.env,
    limits: { ...readerLimits, cacheBytes: CACHE_BYTES },
    program: childProgram(),
  })
  const analyzer = createAnalyzer()
  const indexed = indexes.map(({ id, embedding, ...settings }): [string, IndexedSettings] => {
    if (embedding === null) return [id, { ...settings, embedder: null }]
    // The server asks, because it has the keys. It counts what that costs, too.
    const asked: Embedding = {
      ...embedding,
      // An update that is stopped must not wait for a provider that does not answer.
      embed: async (texts, _purpose, signal) => ({
        vectors: await untilAborted(listener.embed(id, texts), signal),
        usage: null,
      }),
    }
    return [
      id,
      { ...settings, embedder: createEmbedder({ store, embedding: asked, quantize, spent() {}, clock, log }) },
    ]
  })
  const documents = createDocumentReader({ reader, folder: join(cacheDir, 'copies'), newId: randomUUID, clock, log })
  const prepare = createPrepare(analyzer)
  const updater = createUpdater({
    store,
    documents,
    prepare,
    version: PREPARED_VERSION,
    excluded,
    clock,
    log,
  })
  const work = createWork({ store, indexes: new Map(indexed), updater, analyzer, listener })
  const settingsOf = (index: string): WorkIndex => {
    const found = indexes.find(({ id }) => id === index)
    if (found === undefined) throw new Error(`nobody has the index ${index}`)
    return found
  }
  const closing = new AbortController()
  return {
    ...work,
    async changes(index) {
      const { files, gone } = await changesOf(index, settingsOf(index), { store, excluded }, closing.signal)
      return files.length + gone
    },
    estimate: (index) => estimate(index, settingsOf(index), { store, documents, prepare, excluded }, closing.signal),
    async close() {
      closing.abort()
      await work.stop()
      await reader.close()
      await store.close()
    },
  }
}

async function openKnowledgeStore(kind: WorkSettings['store'], clock: Clock, log: Logger): Promise<KnowledgeStore> {
  switch (kind.kind) {
    case 'sqlite': {
      const { createSqliteKnowledge } = await import('../../store/sqlite/knowledge/sqlite-knowledge.ts')
      const { path, readOnly } = kind
      if (!readOnly) return createSqliteKnowledge({ path, log })
      const found = createSqliteKnowledge({ path, log, readOnly })
      if (found !== null) return found
      return createSqliteKnowledge({ path: ':memory:', log })
    }
    case 'postgres': {
      const { openDatabase } = await import('../../store/postgres/connection/database.ts')
      const { createPostgresKnowledge } = await import('../../store/postgres/knowledge/postgres-knowledge.ts')
      const database = openDatabase({ url: kind.url, waitMs: kind.waitMs, readers: READERS, clock, log })
      const store = createPostgresKnowledge(database)
      return { ...store, close: () => store.close().finally(() => database.close()) }
    }
  }
}
