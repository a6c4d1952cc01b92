// The documents of agents. Servers whose agents have none load nothing of it.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentDefinition, EmbeddingSettings } from '../../domain/agent/agent.ts'
import type { KnowledgeToolSettings } from '../../domain/agent/tool-settings.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
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

/** The documents of agents, which this app opens and closes. */
export interface Documents {
  knowledge: OwnKnowledge
  /** Null: the index has no embedding. */
  embeddingOf(settings: IndexSettings): Embedding | null
}

export const documentsIn = (agents: readonly Pick<AgentDefinition, 'tools'>[]): KnowledgeToolSettings[] =>
  agents.flatMap(({ tools }) => tools.filter((tool) => tool.type === 'knowledge'))

/**
 * Throws `config_invalid` for an embedding that can never work, such as one without its key. With `wordsAtLeast` that is said by each attempt
 * to embed something, and all else works.
 */
export async function knowledgeOf(
  agents: readonly AgentDefinition[],
  deps: Omit<ModelDeps, 'directory'>,
  { wordsAtLeast }: { wordsAtLeast: boolean },
): Promise<Documents> {
  const all = documentsIn(agents)
  const embeddings = new Map<string, Embedding>()
  for (const settings of all) {
    const { embedding, directory } = settings
    if (embedding === null || embeddings.has(indexId(settings))) continue
    const opened = await createEmbedding(embedding, { ...deps, directory }).catch((error: unknown) => {
      if (!wordsAtLeast || !hasCode(error, 'config_invalid')) throw error
      return refusing(embedding, error)
    })
    embeddings.set(indexId(settings), opened)
  }
  return { knowledge: createKnowledge(all), embeddingOf: (settings) => embeddings.get(indexId(settings)) ?? null }
}

/** As a provider that fails. */
const refusing = ({ provider, name }: EmbeddingSettings, { message }: Error): Embedding => ({
  provider,
  name,
  most: { texts: 1, tokens: 1 },
  embed: () => Promise.reject(new ServerError('model_failed', message)),
})

/** The database of the indexes in a data directory. All of it can be made again. */
export const knowledgeFileIn = (dataDir: string): string => join(dataDir, 'knowledge.db')

/** What is known of an index that a command has made: its last write is the last thing that it found. */
export async function saidByFile(path: string): Promise<string> {
  const written = await stat(path).catch(() => null)
  const updatedAt = written === null ? null : Math.floor(written.mtimeMs)
  return JSON.stringify({ state: updatedAt === null ? 'waiting' : 'ready', why: null, progress: null, updatedAt })
}

export function workSettingsOf(
  { knowledge, embeddingOf }: Documents,
  store: WorkSettings['store'],
  dataDir: string,
): WorkSettings {
  const indexes = knowledge.all.map(({ id, settings }) => {
    const { sources, directory, folders, ignore } = settings
    const { provider = '', name = '', most = null } = embeddingOf(settings) ?? {}
    const price = settings.embedding?.price ?? null
    return {
      id,
      sources,
      directory,
      folders,
      ignore,
      embedding: most === null ? null : { provider, name, most, price },
    }
  })
  return { store, cacheDir: join(dataDir, 'knowledge-extracts'), indexes, excluded: [dataDir] }
}

/** The first agent with this index, for which usage counts. */
export const agentWith = (asked: IndexSettings, agents: readonly Pick<AgentDefinition, 'name' | 'tools'>[]): string =>
  agents.find((agent) => documentsIn([agent]).some((one) => indexId(one) === indexId(asked)))?.name ?? ''

/** A thread that has had nothing to do for this long ends. */
const REST_MS = 60_000
/** The job of the process that keeps the indexes of a store, and the kind of what it says of them. */
export const KNOWLEDGE = 'knowledge'
/** For what is kept nowhere else. */
export const inMemory: WorkSettings['store'] = { kind: 'sqlite', path: ':memory:', readOnly: false }

/** What is opened here is closed by `undo`. */
export function openKnowledge(documents: Documents, parts: Known, undo: AsyncDisposableStack): void {
  const { settings, dataDir, sessionLog, clock, log } = parts
  const { jobs, shared, isShared, changes } = parts.replica
  const { knowledge, embeddingOf } = documents
  const isMemory = settings.store === ':memory:'
  const work = workSettingsOf(
    documents,
    isPostgres(settings.store)
      ? { kind: 'postgres', url: settings.store.url, waitMs: settings.store.waitMs }
      : isMemory
        ? inMemory
        : { kind: 'sqlite', path: knowledgeFileIn(dataDir), readOnly: false },
    dataDir,
  )
  knowledge.open({
    work: (listener) => createWorkThread({ settings: work, listener, restMs: isMemory ? null : REST_MS, clock, log }),
    embeddingOf,
    // Somebody else keeps them then, also if this server is asked for an update: its files may be others.
    whileHeld: settings.knowledge.index ? (keep) => jobs.whileHeld(KNOWLEDGE, keep) : () => ({ close: async () => {} }),
    isShared,
    said: {
      write: (index, value) => shared.put({ kind: KNOWLEDGE, key: index, value, version: null, expiresAt: null }),
      read: async (index) =>
        work.store.kind === 'sqlite' && !settings.knowledge.index
          ? await saidByFile(work.store.path)
          : ((await shared.get(KNOWLEDGE, index))?.value ?? null),
    },
    changes: { tell: () => changes.tell(KNOWLEDGE), watch: (look) => changes.watch(KNOWLEDGE, look) },
    watch: (changed) => createKeepFresh({ changed, clock, log }),
    spent: (asked, usage) =>
      sessionLog.commit({
        type: 'add_usage',
        usage: [{ at: clock.now(), agent: agentWith(asked, parts.agents), usage }],
      }),
    clock,
    log,
  })
  undo.defer(() => knowledge.close())
}
