// The documents of agents. Servers whose agents have none load nothing of it.

import { join } from 'node:path'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { KnowledgeToolSettings } from '../../domain/agent/tool-settings.ts'
import { isPostgres } from '../../domain/settings/store-settings.ts'
import { createKnowledge, indexId, type OwnKnowledge } from '../../knowledge/create-knowledge.ts'
import type { IndexSettings } from '../../knowledge/knowledge.ts'
import { createKeepFresh } from '../../knowledge/update/keep-fresh.ts'
import type { ModelDeps } from '../../models/create-model.ts'
import { createEmbedding } from '../../models/embedding/create-embedding.ts'
import type { Embedding } from '../../models/embedding/embedding.ts'
import type { Known } from '../open-access.ts'
import type { WorkSettings } from './open-work.ts'
import { createWorkThread } from './work-thread.ts'

/** Documents that an app keeps itself. */
export interface Documents {
  knowledge: OwnKnowledge
  /** Null: it has none. */
  embeddingOf(settings: IndexSettings): Embedding | null
}

const documentsIn = (agents: readonly Pick<AgentDefinition, 'tools'>[]): KnowledgeToolSettings[] =>
  agents.flatMap(({ tools }) => tools.filter((tool) => tool.type === 'knowledge'))

/** Throws `config_invalid` for an embedding that can never work. */
export async function knowledgeOf(
  agents: readonly AgentDefinition[],
  deps: Omit<ModelDeps, 'directory'>,
): Promise<Documents> {
  const all = documentsIn(agents)
  const embeddings = new Map<string, Embedding>()
  for (const settings of all) {
    const { embedding, directory } = settings
    if (embedding === null || embeddings.has(indexId(settings))) continue
    embeddings.set(indexId(settings), await createEmbedding(embedding, { ...deps, directory }))
  }
  return { knowledge: createKnowledge(all), embeddingOf: (settings) => embeddings.get(indexId(settings)) ?? null }
}

/** A thread that has had nothing to do for this long ends. */
const REST_MS = 60_000
const KIND = 'knowledge'

/** What is opened here is closed by `undo`. */
export function openKnowledge(documents: Documents, parts: Known, undo: AsyncDisposableStack): void {
  const { settings, dataDir, replica, sessionLog, clock, log } = parts
  const { knowledge, embeddingOf } = documents
  const isMemory = settings.store === ':memory:'
  const work: WorkSettings = {
    store: isPostgres(settings.store)
      ? { kind: 'postgres', url: settings.store.url, waitMs: settings.store.waitMs }
      : isMemory
        ? { kind: 'memory' }
        : { kind: 'sqlite', path: join(dataDir, 'knowledge.db') },
    cacheDir: join(dataDir, 'knowledge-extracts'),
    indexes: knowledge.all.map(({ id, settings }) => {
      const { sources, directory, ignore } = settings
      const { provider = '', name = '', most = null } = embeddingOf(settings) ?? {}
      return { id, sources, directory, ignore, embedding: most === null ? null : { provider, name, most } }
    }),
    excluded: [dataDir],
  }
  const agentOf = (asked: IndexSettings): string =>
    parts.agents.find(({ tools }) => documentsIn([{ tools }]).some((one) => indexId(one) === indexId(asked)))?.name ??
    ''
  knowledge.open({
    work: (listener) => createWorkThread({ settings: work, listener, restMs: isMemory ? null : REST_MS, clock, log }),
    embeddingOf,
    whileHeld: settings.knowledge.index ? (keep) => replica.jobs.whileHeld(KIND, keep) : null,
    isShared: replica.isShared,
    said: {
      write: (index, value) => replica.shared.put({ kind: KIND, key: index, value, version: null, expiresAt: null }),
      read: async (index) => (await replica.shared.get(KIND, index))?.value ?? null,
    },
    changes: { tell: () => replica.changes.tell(KIND), watch: (look) => replica.changes.watch(KIND, look) },
    watch: (changed) => createKeepFresh({ changed, clock, log }),
    spent: (asked, usage) =>
      sessionLog.commit({ type: 'add_usage', usage: [{ at: clock.now(), agent: agentOf(asked), usage }] }),
    clock,
    log,
  })
  undo.defer(() => knowledge.close())
}
