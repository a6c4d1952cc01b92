// What the doors stand on: files, engine and supervision, wired on an open store.

import type { Clock } from '../domain/clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Feed } from '../engine/feed.ts'
import { createJanitor, type Janitor } from '../engine/sessions/janitor.ts'
import type { Jobs } from '../engine/sessions/jobs.ts'
import type { FileKeeper } from '../files/file-keeper.ts'
import type { McpDoor } from '../protocols/mcp/mcp-door.ts'
import type { Attachments } from '../protocols/shared/request/attachments.ts'
import type { FileLinks } from '../protocols/shared/request/file-links.ts'
import { type ChainCheck, createChainCheck } from '../store/chain-check.ts'
import type { AgentsElsewhere } from '../supervision/agents-elsewhere.ts'
import type { Approvals } from '../supervision/approvals/approvals.ts'
import { createApprovals } from '../supervision/approvals/create-approvals.ts'
import {
  createNoteShown,
  createRevealSecret,
  type NoteShown,
  type RevealSecret,
} from '../supervision/approvals/looked-at.ts'
import { createReadDiff, type ReadDiff } from '../supervision/approvals/read-diff.ts'
import { createInbox, type Inbox } from '../supervision/inbox/inbox.ts'
import { type AuditTrail, createAuditTrail } from '../supervision/oversight/audit-trail.ts'
import type { DayLimits } from '../supervision/oversight/day-limits.ts'
import { createNoteRefused, type NoteRefused } from '../supervision/oversight/note-refused.ts'
import { createOversight, type Oversight } from '../supervision/oversight/oversight.ts'
import { createReadUsage, type ReadUsage } from '../supervision/oversight/usage-report.ts'
import { type AnswerRecord, createAnswerRecord } from '../supervision/records/answer-record.ts'
import { buildEngine, type EngineParts } from './build-engine.ts'
import { buildSupervision, type SupervisionParts } from './build-supervision.ts'
import type { SupervisedWork } from './create-supervised-work.ts'
import { type FileParts, openFiles } from './open-files.ts'

export interface Services {
  engine: Engine
  approvals: Approvals
  answer: AnswerRecord
  feed: Feed
  inbox: Inbox
  readDiff: ReadDiff
  revealSecret: RevealSecret
  noteShown: NoteShown
  noteRefused: NoteRefused
  oversight: Oversight
  trail: AuditTrail
  chain: ChainCheck['state']
  readUsage: ReadUsage
  dayLimits: DayLimits
  mcp: McpDoor
  elsewhere: AgentsElsewhere
  work: SupervisedWork
  janitor: Janitor
  jobs: Jobs
  keeper: FileKeeper
  attachments: Attachments
  links: FileLinks
  clock: Clock
  version: string
}

type ServiceParts = FileParts & Omit<EngineParts, 'files'> & SupervisionParts

/** What is opened here is closed by `undo`, the newest first: approvals before the engine, the engine before the readers of files. */
export async function createServices(parts: ServiceParts, undo: AsyncDisposableStack): Promise<Services> {
  const { settings, store, sessionLog, replica, feed, version, clock, log } = parts
  const { jobs } = replica
  const { files, keeper, attachments, links } = await openFiles(parts, undo)
  const { engine, approving, prices, dayLimits } = buildEngine({ ...parts, files }, undo)
  const { elsewhere, work, mcp } = buildSupervision(parts, undo)
  const approvals = createApprovals({ ...approving, waits: engine.waits, answerAgent: elsewhere.answerAgent })
  undo.defer(() => approvals.close())
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
    tidyElsewhere: work.tidy,
  })
  return {
    engine,
    approvals,
    answer: createAnswerRecord({ approvals, prompts: elsewhere.prompts, stalls: elsewhere.stalls }),
    feed,
    readDiff: createReadDiff(store),
    noteShown: createNoteShown({ waits: store.waits, log: sessionLog, clock }),
    noteRefused: createNoteRefused({
      audit: (record) => sessionLog.commit({ type: 'add_audit', audit: [record] }),
      clock,
      logger: log,
    }),
    revealSecret: createRevealSecret({ waits: store.waits, log: sessionLog, clock }),
    inbox: createInbox({ waits: store.waits, log: sessionLog, feed, clock }),
    mcp,
    elsewhere,
    work,
    oversight: createOversight({ engine, store, log: sessionLog, clock }),
    trail: createAuditTrail({ reads: store.audit, log: sessionLog, clock }),
    chain: createChainCheck({ reads: store.audit, clock }).state,
    readUsage: createReadUsage({
      usage: store.usage,
      sessions: store.sessions,
      prices,
      models: engine.agents.list.map(({ model }) => model),
    }),
    dayLimits,
    janitor,
    jobs,
    keeper,
    attachments,
    links,
    clock,
    version,
  }
}
