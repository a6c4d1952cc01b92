// What the doors stand on: files, engine and supervision, wired on an open store.

import { startedAgents } from '../config/agent/started-agents.ts'
import { answersWith } from '../domain/agent/agent.ts'
import { createMemories } from '../engine/memories/memories.ts'
import { createJanitor } from '../engine/sessions/janitor.ts'
import type { Embeddings } from '../protocols/openai/embed.ts'
import { createChainCheck } from '../store/chain-check.ts'
import type { UsageBeside } from '../store/ports/usage.ts'
import { createApprovals } from '../supervision/approvals/create-approvals.ts'
import { createNoteShown, createRevealSecret } from '../supervision/approvals/looked-at.ts'
import { createReadDiff } from '../supervision/approvals/read-diff.ts'
import { createInbox } from '../supervision/inbox/inbox.ts'
import { createWhoLooks } from '../supervision/inbox/who-looks.ts'
import { createAuditTrail } from '../supervision/oversight/audit-trail.ts'
import { createNoteRefused } from '../supervision/oversight/note-refused.ts'
import { createOversight } from '../supervision/oversight/oversight.ts'
import { createReadCosts, createReadUsage } from '../supervision/oversight/usage-report.ts'
import { createAnswerRecord } from '../supervision/records/answer-record.ts'
import { createReadScenes } from '../supervision/records/record-scenes.ts'
import type { TakeStep } from '../supervision/sessions/take-step.ts'
import { createSpawner } from '../supervision/spawn/create-spawner.ts'
import { createAcceptPolicy } from '../supervision/workspace-policy/accept-policy.ts'
import { buildEngine } from './build-engine.ts'
import { buildSupervision } from './build-supervision.ts'
import { defaultsFrom } from './load-config.ts'
import { openFiles } from './open-files.ts'
import type { Telling } from './open-outbox.ts'

export type Services = Awaited<ReturnType<typeof createServices>>
/** What exists once the server can work. */
export type Working = Telling & { services: Services }

/** What is opened here is closed by `undo`, the newest first: approvals before the engine, the engine before the programs of hosted agents, those before the readers of files. */
export async function createServices(parts: Telling, undo: AsyncDisposableStack) {
  const { settings, store, sessionLog, replica, feed, version, clock, log } = parts
  const { jobs } = replica
  const { files, keeper, attachments, links } = await openFiles(parts, undo)
  const { elsewhere, work, mcp, hosted } = buildSupervision(parts, undo)
  const { supervision } = settings
  const started = startedAgents(supervision, defaultsFrom(settings))
  const memories = createMemories(parts)
  const built = { ...parts, files, hostWork: hosted, started, memories }
  const { engine, approving, prices, dayLimits } = buildEngine(built, undo)
  const { lacks } = work
  await startMcpSignIns(parts, elsewhere.takeStep)
  const spawner = createSpawner({
    ...elsewhere,
    ids: parts.ids,
    agents: started,
    usual: supervision.hostCli === null ? null : (started[0]?.host.name ?? null),
    lacks,
    findWorkspace: parts.workspaces.find,
    runs: engine.runs,
  })
  const approvals = createApprovals({ ...approving, waits: engine.waits, answerAgent: elsewhere.answerAgent })
  undo.defer(() => approvals.close())
  const whoLooks = createWhoLooks({ waits: store.waits, replica, clock })
  undo.defer(() => whoLooks.close())
  const janitor = createJanitor({
    engine,
    files,
    store,
    log: sessionLog,
    clock,
    logger: log,
    sessions: settings.sessions,
    unsentFileSeconds: settings.files.unsentTtlSeconds,
    jobs,
    tidyReplicas: () => replica.tidy(sessionLog.commit),
    expireElsewhere: elsewhere.expire,
    sweepElsewhere: elsewhere.sweep,
    tidyPrograms: hosted.tidy,
    tidyElsewhere: work.tidy,
  })
  return {
    engine,
    approvals,
    answer: createAnswerRecord({ approvals, prompts: elsewhere.prompts, stalls: elsewhere.stalls }),
    acceptPolicy: createAcceptPolicy({ ...elsewhere, store, approvals }),
    feed,
    readDiff: createReadDiff(store),
    noteShown: createNoteShown({ waits: store.waits, log: sessionLog, clock }),
    noteRefused: createNoteRefused({ audit: parts.audit, clock, logger: log }),
    revealSecret: createRevealSecret({ waits: store.waits, log: sessionLog, clock }),
    readScenes: createReadScenes({ store, clock }),
    inbox: createInbox({ store, log: sessionLog, feed, clock }),
    whoLooks,
    mcp,
    elsewhere,
    work,
    spawner,
    /** Loaded when somebody asks. */
    async startable() {
      const { readStartable } = await import('../supervision/spawn/startable.ts')
      return readStartable({ agents: started, lacks, settings: supervision })
    },
    oversight: createOversight({ engine, store, log: sessionLog, clock }),
    trail: createAuditTrail({ reads: store.audit, log: sessionLog, clock }),
    chain: createChainCheck({ reads: store.audit, clock }).state,
    readUsage: createReadUsage({
      usage: store.usage,
      sessions: store.sessions,
      prices,
      models: engine.agents.list.map(answersWith),
    }),
    readCosts: createReadCosts({ usage: store.usage, prices }),
    dayLimits,
    memories,
    embeddings: await openEmbeddings(parts),
    janitor,
    jobs,
    keeper,
    attachments,
    links,
    clock,
    version,
  }
}

/** Few servers have an agent with documents. */
async function openEmbeddings({ documents, sessionLog, ...parts }: Telling): Promise<Embeddings> {
  if (documents === null) return { of: () => null }
  const { createEmbeddings } = await import('./create-embeddings.ts')
  const spent = (usage: UsageBeside) => sessionLog.commit({ type: 'add_usage', usage: [usage] })
  return createEmbeddings({ ...parts, documents, spent })
}

/** Few servers have an agent with such an MCP server. */
async function startMcpSignIns(parts: Telling, takeStep: TakeStep): Promise<void> {
  if (parts.mcpSignIns === null) return
  const { startSignIns } = await import('./open-sign-ins.ts')
  startSignIns(parts.mcpSignIns, parts, takeStep)
}
