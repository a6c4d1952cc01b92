// The documents of agents for a command that runs without a server. It keeps the index while it runs, in its own thread: nobody else is
// waiting here.

import { existsSync } from 'node:fs'
import type { ServerSettings } from '../../config/settings/server-settings.ts'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { createIds } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { isPostgres } from '../../domain/settings/store-settings.ts'
import { createJobs } from '../../engine/sessions/jobs.ts'
import type { IndexSettings, Knowledge } from '../../knowledge/knowledge.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'
import type { Estimate } from '../../knowledge/update/estimate.ts'
import { createModelHttp } from '../../models/wire/model-http.ts'
import { createConnections } from '../../outgoing/connections.ts'
import { lockDataDir, openSharedStore, openStore } from '../open-store.ts'
import { agentWith, KNOWLEDGE, knowledgeFileIn, knowledgeOf, workSettingsOf } from './knowledge-of.ts'
import { openWork, type WorkSettings } from './open-work.ts'

export interface CommandKnowledge extends AsyncDisposable {
  knowledge: Knowledge
  /** Nothing can be written: a server keeps the indexes, or nothing is to be written. */
  isReadOnly: boolean
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

/** What can write the usage, and who keeps others from writing the index. */
interface Ledger extends AsyncDisposable {
  store: WorkSettings['store']
  isReadOnly: boolean
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
  const documents = await knowledgeOf(agents, { http, clock, ids, random: Math.random, log })
  const ledger = undo.use(isPostgres(settings.store) ? await openShared(settings.store, options) : openLocal(options))
  const { knowledge, embeddings } = documents
  let heard: WorkListener | null = null
  const work = await openWork(workSettingsOf(documents, ledger.store, dataDir), {
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
  })
  const spent: CommandKnowledge['spent'] = (asked, usage) => ledger.spent(agentWith(asked, agents), usage)
  knowledge.open({
    work(listener) {
      heard = listener
      return work
    },
    embeddingOf: (asked) => embeddings.get(knowledge.of(asked).id) ?? null,
    whileHeld: null,
    isShared: false,
    said: { write: async () => {}, read: async () => null },
    changes: { tell: async () => {}, watch: () => () => {} },
    watch: () => ({ watch() {}, close() {} }),
    spent: (asked, usage) => spent(asked, [usage]),
    clock,
    log,
  })
  undo.defer(() => knowledge.close())
  undo.defer(() => work.close())
  const opened = undo.move()
  return {
    knowledge,
    isReadOnly: ledger.isReadOnly,
    estimate: (index) => work.estimate(index),
    spent,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const nothingWritten = { isReadOnly: true, spent: async () => {}, [Symbol.asyncDispose]: async () => {} }

function openLocal({ settings, dataDir, clock, readOnly }: CommandKnowledgeOptions): Ledger {
  const path = knowledgeFileIn(dataDir)
  const reads: Ledger = {
    ...nothingWritten,
    store: existsSync(path) ? { kind: 'sqlite', path, readOnly: true } : { kind: 'memory' },
  }
  if (readOnly) return reads
  if (settings.store === ':memory:') return { ...reads, isReadOnly: false, store: { kind: 'memory' } }
  try {
    const lock = lockDataDir(dataDir)
    return {
      store: { kind: 'sqlite', path, readOnly: false },
      isReadOnly: false,
      async spent(agent, usage) {
        if (usage.length === 0) return
        // Only what costs something is worth a database that may not exist yet.
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

/** A server that keeps the indexes lets them go within this time, if it is not there any more. */
const HELD_MS = 11_000

async function openShared(
  { url, waitMs }: { url: string; waitMs: number },
  { clock, log, readOnly }: CommandKnowledgeOptions,
): Promise<Ledger> {
  const store: WorkSettings['store'] = { kind: 'postgres', url, waitMs }
  if (readOnly) return { ...nothingWritten, store }
  const shared = await openSharedStore({ url, clock, log })
  const owner = createIds(() => clock.now()).uuid()
  const jobs = createJobs({ shared: shared.store.shared, owner, clock, logger: log })
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
    async spent(agent, usage) {
      const at = clock.now()
      if (usage.length > 0)
        await shared.store.commit([{ type: 'add_usage', usage: usage.map((one) => ({ at, agent, usage: one })) }])
    },
    async [Symbol.asyncDispose]() {
      await job.close()
      await shared.store.close()
    },
  }
}

/** Why nothing can be written. */
export const keptByServer = (dataDir: string): ServerError =>
  new ServerError('data_dir_locked', `A server keeps the index in ${dataDir} up to date. It alone can change it.`)
