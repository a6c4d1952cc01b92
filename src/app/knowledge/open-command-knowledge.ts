// The documents of agents for a command that runs without a server. It keeps the index while it runs, on its main thread,
// because nobody else is waiting for that.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerSettings } from '../../config/settings/server-settings.ts'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import { hasCode } from '../../domain/errors.ts'
import { createIds } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { isPostgres } from '../../domain/settings/store-settings.ts'
import { createJobs } from '../../engine/sessions/jobs.ts'
import type { KnowledgeParts } from '../../knowledge/create-knowledge.ts'
import type { IndexSettings, Knowledge } from '../../knowledge/knowledge.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'
import type { Estimate } from '../../knowledge/update/estimate.ts'
import { createModelHttp } from '../../models/wire/model-http.ts'
import { createConnections } from '../../outgoing/connections.ts'
import type { Shared } from '../../store/ports/shared.ts'
import { lockDataDir, openSharedReads, openSharedStore, openStore } from '../open-store.ts'
import {
  agentWith,
  inMemory,
  KNOWLEDGE,
  knowledgeFileIn,
  knowledgeOf,
  saidByFile,
  workSettingsOf,
} from './knowledge-of.ts'
import { openWork, type WorkSettings } from './open-work.ts'

export interface CommandKnowledge extends AsyncDisposable, Pick<KnowledgeParts, 'embeddingOf'> {
  knowledge: Knowledge
  /** Nothing can be written: a server keeps the indexes, or nothing is to be written. */
  isReadOnly: boolean
  /** A server may keep them from files of another machine. */
  isElsewhere: boolean
  /** How many files are new, changed or gone since the last update. */
  changes(index: string): Promise<number>
  estimate(index: string): Promise<Estimate>
  /** Counts tokens for the agent of the index. Without the right to write it does nothing. */
  spent(settings: IndexSettings, usage: readonly TokenUsage[]): Promise<void>
}

export interface CommandKnowledgeOptions {
  agents: readonly AgentDefinition[]
  settings: Pick<ServerSettings, 'store'>
  dataDir: string
  version: string
  clock: Clock
  log: Logger
  /** Leaves everything as it is, whether somebody uses the data directory or not. */
  readOnly: boolean
  onProgress: WorkListener['progress']
}

/** The store of the indexes, and who may write to it. */
interface Place
  extends AsyncDisposable,
    Pick<CommandKnowledge, 'isReadOnly' | 'isElsewhere'>,
    Pick<KnowledgeParts, 'said'> {
  store: WorkSettings['store']
  spent(agent: string, usage: readonly TokenUsage[]): Promise<void>
}

/** While a server uses the data directory, its indexes can be read, and nothing is written. Throws `config_invalid`. */
export async function openCommandKnowledge(options: CommandKnowledgeOptions): Promise<CommandKnowledge> {
  const { agents, settings, dataDir, version, clock, log, onProgress } = options
  await using undo = new AsyncDisposableStack()
  const connections = createConnections()
  undo.defer(() => connections.close())
  const http = createModelHttp({ connections, clock, userAgent: `quarterdeck/${version}` })
  const ids = createIds(() => clock.now())
  const documents = await knowledgeOf(agents, { http, clock, ids, random: Math.random, log }, { wordsAtLeast: true })
  const place = undo.use(isPostgres(settings.store) ? await openShared(settings.store, options) : openLocal(options))
  const { knowledge, embeddingOf } = documents
  let heard: WorkListener | null = null
  const settingsOfWork = workSettingsOf(documents, place.store, dataDir)
  // Whatever is read to estimate it is not kept.
  const cacheDir = place.isReadOnly ? await temporaryFolder(undo) : settingsOfWork.cacheDir
  const work = await openWork(
    { ...settingsOfWork, cacheDir },
    {
      listener: {
        progress(index, progress) {
          onProgress(index, progress)
          heard?.progress(index, progress)
        },
        async embed(index, texts) {
          if (heard === null) throw new Error('nobody asked for vectors')
          return await heard.embed(index, texts)
        },
      },
      log,
    },
  )
  const spent: CommandKnowledge['spent'] = (asked, usage) => place.spent(agentWith(asked, agents), usage)
  knowledge.open({
    work(listener) {
      heard = listener
      return { ...work, close: async () => {} }
    },
    embeddingOf,
    // Where somebody else keeps the indexes, what they say counts.
    whileHeld: place.isReadOnly ? () => ({ close: async () => {} }) : null,
    isShared: place.isElsewhere,
    said: place.said,
    changes: { tell: async () => {}, watch: () => () => {} },
    watch: () => ({ watch: async () => {}, close() {} }),
    spent: (asked, usage) => spent(asked, [usage]),
    clock,
    log,
  })
  undo.defer(() => work.close())
  undo.defer(() => knowledge.close())
  const opened = undo.move()
  return {
    knowledge,
    embeddingOf,
    isReadOnly: place.isReadOnly,
    isElsewhere: place.isElsewhere,
    changes: work.changes,
    estimate: work.estimate,
    spent,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function temporaryFolder(undo: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-documents-'))
  undo.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const nothingWritten = {
  isReadOnly: true,
  isElsewhere: false,
  spent: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
const saysNothing: Place['said'] = { write: async () => {}, read: async () => null }

function openLocal({ settings, dataDir, clock, readOnly }: CommandKnowledgeOptions): Place {
  const path = knowledgeFileIn(dataDir)
  if (settings.store === ':memory:') {
    return { ...nothingWritten, isReadOnly: false, store: inMemory, said: saysNothing }
  }
  const reads: Place = {
    ...nothingWritten,
    store: { kind: 'sqlite', path, readOnly: true },
    // Only the server knows more. It last found something when it last wrote.
    said: { ...saysNothing, read: () => saidByFile(path) },
  }
  if (readOnly) return reads
  try {
    const lock = lockDataDir(dataDir)
    return {
      store: { kind: 'sqlite', path, readOnly: false },
      isReadOnly: false,
      isElsewhere: false,
      said: saysNothing,
      async spent(agent, usage) {
        if (usage.length === 0) return
        // The database may not exist yet, and is made only if there is a cost to count.
        const store = openStore({ dataDir, lock, fatal() {} })
        const at = clock.now()
        await store
          .commit([{ type: 'add_usage', usage: usage.map((one) => ({ at, agent, usage: one })) }])
          .finally(() => store.close())
      },
      [Symbol.asyncDispose]: async () => lock.release(),
    }
  } catch (error) {
    if (!hasCode(error, 'data_dir_locked')) throw error
    return reads
  }
}

/** If nobody else keeps the indexes, they are ours by then. After a death they are free within ten seconds. */
const HELD_MS = 2_000

async function openShared(
  { url, waitMs }: { url: string; waitMs: number },
  { clock, log, readOnly }: CommandKnowledgeOptions,
): Promise<Place> {
  const store: WorkSettings['store'] = { kind: 'postgres', url, waitMs }
  const readFrom = (shared: Pick<Shared, 'get'>) => async (index: string) =>
    (await shared.get(KNOWLEDGE, index))?.value ?? null
  if (readOnly) {
    const reads = await openSharedReads({ url, clock, log }).catch((error: unknown) => {
      if (hasCode(error, 'data_dir_older')) return null
      throw error
    })
    // No server of this version has made its tables yet.
    if (reads === null) return { ...nothingWritten, store: inMemory, said: saysNothing }
    const said = { ...saysNothing, read: readFrom(reads.shared) }
    return { ...nothingWritten, isElsewhere: true, store, said, [Symbol.asyncDispose]: reads.close }
  }
  const opened = await openSharedStore({ url, clock, log })
  const { shared } = opened.store
  const owner = createIds(() => clock.now()).uuid()
  const jobs = createJobs({ shared, owner, clock, logger: log })
  const held = Promise.withResolvers<boolean>()
  const job = jobs.whileHeld(KNOWLEDGE, async (signal) => {
    held.resolve(true)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  })
  const cancel = clock.after(HELD_MS, () => held.resolve(false))
  const isOurs = await held.promise
  cancel()
  if (!isOurs) await job.close()
  return {
    store,
    isReadOnly: !isOurs,
    isElsewhere: !isOurs,
    said: {
      read: readFrom(shared),
      write: (index, value) => shared.put({ kind: KNOWLEDGE, key: index, value, version: null, expiresAt: null }),
    },
    async spent(agent, usage) {
      const at = clock.now()
      if (usage.length > 0)
        await opened.store.commit([{ type: 'add_usage', usage: usage.map((one) => ({ at, agent, usage: one })) }])
    },
    async [Symbol.asyncDispose]() {
      await job.close()
      await opened.store.close()
    },
  }
}
