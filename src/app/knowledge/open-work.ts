// The work on indexes, put together: a store, the readers of files, and what cuts, ranks and searches.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
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
import { createDocumentReader } from '../../knowledge/update/read-document.ts'
import { createUpdater } from '../../knowledge/update/update-index.ts'
import { createAnalyzer } from '../../knowledge/words/analyze.ts'
import type { Embedding } from '../../models/embedding/embedding.ts'
import type { KnowledgeStore } from '../../store/ports/knowledge.ts'

/** Plain data, because it goes to a thread. */
export interface WorkSettings {
  store: { kind: 'sqlite'; path: string } | { kind: 'memory' } | { kind: 'postgres'; url: string; waitMs: number }
  /** Of the readers of files. */
  cacheDir: string
  indexes: readonly WorkIndex[]
  /** Absolute paths of folders that are never read, such as the data directory. */
  excluded: readonly string[]
}

interface WorkIndex extends Pick<IndexSettings, 'sources' | 'directory' | 'ignore'> {
  id: string
  /** Null: words alone. */
  embedding: Pick<Embedding, 'provider' | 'name' | 'most'> | null
}

/** Connections to Postgres for searches. */
const READERS = 2
/** What is read once is cut and kept elsewhere. */
const CACHE_BYTES = 20_000_000

export async function openWork(
  { store: kind, cacheDir, indexes, excluded }: WorkSettings,
  { listener, log }: { listener: WorkListener; log: Logger },
): Promise<WorkPlace> {
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
      embed: async (texts) => ({ vectors: await listener.embed(id, texts), usage: null }),
    }
    return [
      id,
      { ...settings, embedder: createEmbedder({ store, embedding: asked, quantize, spent() {}, clock, log }) },
    ]
  })
  const updater = createUpdater({
    store,
    documents: createDocumentReader({ reader, folder: join(cacheDir, 'copies'), newId: randomUUID, clock, log }),
    prepare: createPrepare(analyzer),
    version: PREPARED_VERSION,
    excluded,
    clock,
    log,
  })
  const work = createWork({ store, indexes: new Map(indexed), updater, analyzer, listener })
  return {
    ...work,
    async close() {
      await work.stop()
      await reader.close()
      await store.close()
    },
  }
}

async function openKnowledgeStore(kind: WorkSettings['store'], clock: Clock, log: Logger): Promise<KnowledgeStore> {
  switch (kind.kind) {
    case 'sqlite':
      return (await import('../../store/sqlite/knowledge/sqlite-knowledge.ts')).createSqliteKnowledge({
        path: kind.path,
        log,
      })
    case 'memory':
      return (await import('../../store/knowledge/memory-knowledge.ts')).createMemoryKnowledge()
    case 'postgres': {
      const { openDatabase } = await import('../../store/postgres/connection/database.ts')
      const { createPostgresKnowledge } = await import('../../store/postgres/knowledge/postgres-knowledge.ts')
      const database = openDatabase({ url: kind.url, waitMs: kind.waitMs, readers: READERS, clock, log })
      const store = createPostgresKnowledge(database)
      return { ...store, close: () => store.close().finally(() => database.close()) }
    }
  }
}
