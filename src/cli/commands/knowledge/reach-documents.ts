// The documents that a command means, through the running server or without one.

import { existsSync } from 'node:fs'
import { z } from 'zod'
import { type CommandKnowledge, openCommandKnowledge } from '../../../app/knowledge/open-command-knowledge.ts'
import { agentPaths, type LoadedConfig, loadConfig } from '../../../app/load-config.ts'
import { examineDataDir } from '../../../app/open-store.ts'
import type { SettingFlags } from '../../../config/settings/settings.ts'
import { sleep } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import type { KnowledgeIndex } from '../../../knowledge/knowledge.ts'
import type { WorkListener } from '../../../knowledge/knowledge-work.ts'
import {
  type KnowledgeFound,
  KnowledgeFoundSchema,
  KnowledgeIndexSchema,
  type KnowledgeIndex as WireKnowledgeIndex,
} from '../../../protocols/manage/knowledge/schema.ts'
import { foundView, indexView } from '../../../protocols/manage/knowledge/views.ts'
import { failure, usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { type CtlServer, runCtl } from '../ctl/ctl-server.ts'
import { understood } from '../ctl/records.ts'

/** What the person typed for every verb. */
export interface Asked {
  files: readonly string[]
  settings: SettingFlags
  version: string
  agent?: string
  tool?: string
  config?: string
  json?: boolean
  passphraseFd?: string
}

export type OnProgress = (index: string, progress: Parameters<WorkListener['progress']>[1]) => void

/** What verbs do with indexes, wherever they are kept. */
export interface Documents {
  /** A server keeps them up to date. */
  areKept: boolean
  /** Those that the person means. */
  list(): Promise<WireKnowledgeIndex[]>
  search(use: WireKnowledgeIndex['used_by'][number], query: string, passages: number): Promise<KnowledgeFound>
  /** Resolves when the index is up to date, or cannot be brought up to date. */
  update(index: WireKnowledgeIndex, onProgress: OnProgress): Promise<WireKnowledgeIndex>
  clear(index: WireKnowledgeIndex): Promise<void>
}

const configOf = ({ files, settings, config }: Asked, io: Io): LoadedConfig =>
  loadConfig({ files, flags: settings, settingsFile: config }, io)

/** Through the server if one runs. `writes`: without one, the verb changes the index. */
export async function withDocuments(
  asked: Asked,
  io: Io,
  writes: boolean,
  onProgress: OnProgress,
  work: (documents: Documents) => Promise<void>,
): Promise<void> {
  const config = configOf(asked, io)
  const isNamed = asked.settings.data_dir !== undefined
  if (isInUse(config) || (!isNamed && !hasDocuments(config) && agentPaths(asked.files, io).length === 0)) {
    const dataDir = existsSync(config.dataDir) ? config.dataDir : undefined
    const { json = false, passphraseFd } = asked
    const flags = { json, ...(dataDir === undefined ? {} : { dataDir }), ...(passphraseFd && { passphraseFd }) }
    return await runCtl(flags, io, ({ server }) => work(documentsOfServer(server, asked, io)))
  }
  await using own = await openOwn(asked, config, io, !writes, onProgress)
  await work(ownDocuments(own, asked, config))
}

/** The index itself, also beside a server, whose documents it then only reads. */
export async function withOwnDocuments<T>(
  asked: Asked,
  io: Io,
  options: { readOnly: boolean; onProgress: OnProgress },
  work: (own: CommandKnowledge, indexes: readonly KnowledgeIndex[]) => Promise<T>,
): Promise<T> {
  const config = configOf(asked, io)
  await using own = await openOwn(asked, config, io, options.readOnly, options.onProgress)
  return await work(own, [...new Set(usesIn(config, asked).map(({ tool }) => own.knowledge.of(tool)))])
}

const isInUse = ({ dataDir, settings }: LoadedConfig): boolean =>
  settings.store !== ':memory:' && existsSync(dataDir) && examineDataDir(dataDir) === 'in use'

async function openOwn(asked: Asked, config: LoadedConfig, io: Io, readOnly: boolean, onProgress: OnProgress) {
  // Says what is wrong before anything is opened.
  usesIn(config, asked)
  const { clock } = io
  const { agents, settings, dataDir } = config
  const { version } = asked
  return await openCommandKnowledge({
    ...{ agents, settings, dataDir, version, clock, log: silentLogger, readOnly, onProgress },
  })
}

const hasDocuments = ({ agents }: LoadedConfig): boolean =>
  agents.some(({ tools }) => tools.some(({ type }) => type === 'knowledge'))

/** The tools that the person means: there is at least one. Throws `CliError`. */
function usesIn({ agents }: LoadedConfig, { agent, tool }: Pick<Asked, 'agent' | 'tool'>) {
  const all = agents.flatMap(({ name, tools }) =>
    tools.filter((one) => one.type === 'knowledge').map((one) => ({ agent: name, tool: one })),
  )
  if (all.length === 0) {
    throw usageError('No agent has documents.', [
      'Add some to the agent file, for example:',
      '  tools:',
      '    - { type: knowledge, name: handbook, source: ./handbook }',
    ])
  }
  const meant = all.filter((one) => (agent ?? one.agent) === one.agent && (tool ?? one.tool.name) === one.tool.name)
  if (meant.length > 0) return meant
  throw noneMeant(all.map((one) => ({ agent: one.agent, tool: one.tool.name })))
}

const noneMeant = (all: WireKnowledgeIndex['used_by']) =>
  usageError('No agent has documents with this --agent and --tool.', [
    `There are: ${all.map((one) => `--agent ${one.agent} --tool ${one.tool}`).join(', ')}`,
  ])

function ownDocuments(own: CommandKnowledge, asked: Asked, config: LoadedConfig): Documents {
  const { knowledge } = own
  const indexOf = (id: string): KnowledgeIndex => {
    const found = knowledge.all.find((one) => one.id === id)
    if (found === undefined) throw new Error(`there is no index ${id}`)
    return found
  }
  async function viewOf(index: KnowledgeIndex): Promise<WireKnowledgeIndex> {
    const usedBy = usesIn(config, {}).filter(({ tool }) => knowledge.of(tool) === index)
    return indexView(
      await index.status(),
      usedBy.map(({ agent, tool }) => ({ agent, tool: tool.name })),
    )
  }
  /** Nobody keeps it now, so only the files say whether it is up to date. */
  async function keptByNobody(view: WireKnowledgeIndex): Promise<WireKnowledgeIndex> {
    const changes = await own.changes(view.id)
    if (changes === 0) return { ...view, state: 'ready' }
    const why = `${changes} of its files are new, changed or gone. Read them: quarterdeck knowledge index`
    return { ...view, state: 'waiting', why, updated_at: null }
  }
  return {
    areKept: own.isReadOnly,
    async list() {
      const indexes = new Set(usesIn(config, asked).map(({ tool }) => knowledge.of(tool)))
      const views = await Promise.all([...indexes].map(viewOf))
      return own.isReadOnly && !own.isElsewhere ? await Promise.all(views.map(keptByNobody)) : views
    },
    async search({ agent, tool }, query, passages) {
      const use = usesIn(config, { agent, tool })[0]
      if (use === undefined) throw new Error('an index that is listed has a tool')
      const found = await knowledge.of(use.tool).search(query, passages, new AbortController().signal)
      await own.spent(use.tool, found.usage)
      return foundView(found)
    },
    async update({ id }) {
      refuseReadOnly(own)
      const ended = new AbortController()
      await indexOf(id).update(ended.signal)
      // What it would try again later is not waited for.
      ended.abort()
      return await viewOf(indexOf(id))
    },
    async clear({ id }) {
      refuseReadOnly(own)
      await indexOf(id).clear()
    },
  }
}

function refuseReadOnly({ isReadOnly }: CommandKnowledge): void {
  if (!isReadOnly) return
  throw failure('Another server or command keeps these indexes, so only that one can change them.', [
    'A server looks for changes by itself. Run this beside it, or wait until it has ended.',
  ])
}

const POLL_MS = 300
/** So often, a server has had the time to begin. */
const PATIENT_POLLS = 5

function documentsOfServer(server: CtlServer, { agent, tool }: Asked, { clock }: Io): Documents {
  const schema = z.object({ indexes: z.array(KnowledgeIndexSchema) })
  const all = async () => understood(schema, await server.get('/knowledge')).indexes
  return {
    areKept: true,
    async list() {
      const indexes = await all()
      const meant = indexes.filter(({ used_by }) =>
        used_by.some((one) => (agent ?? one.agent) === one.agent && (tool ?? one.tool) === one.tool),
      )
      if (meant.length === 0 && indexes.length > 0) throw noneMeant(indexes.flatMap(({ used_by }) => used_by))
      if (meant.length === 0) throw usageError('No agent of the running server has documents.')
      return meant
    },
    async search(use, query, passages) {
      return understood(KnowledgeFoundSchema, await server.post('/knowledge/search', { ...use, query, passages }))
    },
    async update(index, onProgress) {
      await server.post(`/knowledge/${index.id}/update`, {})
      let hasBegun = false
      for (let polls = 1; ; polls += 1) {
        const now = (await all()).find(({ id }) => id === index.id)
        if (now === undefined) throw usageError('The server does not have this index any more.')
        if (now.state === 'indexing') hasBegun = true
        else if (hasBegun || now.updated_at !== index.updated_at || polls > PATIENT_POLLS) return now
        if (now.progress !== null) onProgress(now.id, now.progress)
        await sleep(clock, POLL_MS)
      }
    },
    async clear({ id }) {
      await server.delete(`/knowledge/${id}`)
    },
  }
}
