// What a suspended run waits for: a person's decision, or the result of a tool that runs in the client. A wait is a row in the
// store, not a timer or a socket: an answer through any door, at any later time, starts the continuation of the run.

import type { AnswerableBy } from '../agent/approval-rule.ts'
import type { AskedQuestion } from '../agent/question.ts'
import type { Risk } from '../agent/tool-settings.ts'
import type { WorkMatch } from '../supervision/grant.ts'
import type { Yes } from '../supervision/quorum.ts'
import type { ProgressItem } from '../supervision/supervision.ts'
import {
  type ActionName,
  type ApprovalKind,
  type AskedKind,
  openRecordStatuses,
  type PersonKind,
  type RecordKind,
  recordKinds,
  type StatusOf,
  statusesOf,
} from './record-kinds.ts'

export type AnyRecord = Approval | ClientCall | Prompt | Standby | Alert
type ByKind = { [One in AnyRecord as One['wait']]: One }
export type RecordOf<Kind extends RecordKind> = ByKind[Kind]

/** Records that a person answers. A client call is answered by the client. */
export type PersonRecord = RecordOf<PersonKind>

/** What every record has that waits for an answer, whether or not a run of ours waits for it. */
interface OpenRecord {
  /** UUIDv7. On the wire, it is the id of the AG-UI interrupt, the approval or the tool execution. */
  id: string
  sessionId: string
  owner: string
  agent: string
  createdAt: number
  /** Epoch ms; null: it never expires. */
  expiresAt: number | null
}

/** What every record has that a person decides. */
interface DecidedRecord {
  /** The messages that announced it, by channel, so that they can be updated. */
  messageRefs: Record<string, string>
  decidedAt: number | null
  decidedBy: string | null
  /** The channel of the decision: `http`, `ctl`, `slack`, …; null: no person and no policy has decided. */
  decidedVia: string | null
  reason: string | null
  /** Operators and groups who are asked too because nobody answered; absent: none. */
  escalatedTo?: string[]
}

interface WaitBase extends OpenRecord {
  /** The run that waits; while its continuation runs, the continuation. For an agent elsewhere: the run of the log in which it asked. */
  runId: string
  callId: string
  tool: string
  /** JSON text, as the model wrote it. */
  arguments: string
  /** Lane of the sub-agent that made the call; null: the agent itself. */
  lane: string | null
  /** The run that the answer started, or that used the answer. */
  continuationRunId: string | null
}

export type ApprovalStatus = StatusOf<'approval'>
export const approvalStatuses = statusesOf('approval')

export interface Approval extends WaitBase, DecidedRecord {
  wait: 'approval'
  status: ApprovalStatus
  /**
   * `question`: the call has begun, and its tool asks a person something. `diff`, `permission` and `policy` come from agents
   * elsewhere: a change of a file, a call of the host's own tools, a policy file. An agent that this server hosts asks `permission` too,
   * and `changes`: all that it has changed, as one.
   */
  kind: ApprovalKind
  title: string
  description: string
  /** What the call will really do, in one line; null: its tool cannot say. */
  action: string | null
  /** What the tool of our own agent does, as it says itself, in one line. */
  toolSays?: string
  /** What the tool shows the reviewer: a text or a diff. Left out if it shows nothing. */
  preview?: string
  question?: AskedQuestion
  /** Set if it is `answered`: the text that stands for the tool's result, or the answer to the question as JSON. */
  response?: string
  risk: Risk
  /** Why, after the agent's name: "pushes to a remote"; absent: its tool says how risky it is. */
  riskWhy?: string
  /** What a yes may cover besides this one call of an agent elsewhere, the narrowest first; absent: nothing. */
  matches?: readonly WorkMatch[]
  /** SHA-256 of what is approved: see `json/digest.ts`. */
  digest: string
  /** Version of the rules and the tool that asked. An answer only counts if they have not changed. */
  policyVersion: string
  answerableBy: AnswerableBy
  /** How many people have to say yes; absent: one. The first no closes. */
  quorum?: number
  /** Where several have to say yes: those who have. All said it to the record's digest. */
  decisions?: Yes[]
  /** SHA-256 of a file before and after the change, if the call changes a file. */
  beforeHash: string | null
  afterHash: string | null
  /** Arguments that replace the model's. They came with the answer, or with an earlier answer that no longer counts. */
  editedArguments: string | null
  consumedAt: number | null
  /** What an approval has that an agent in a host's program asked for. */
  supervised?: AskedElsewhere & {
    /** A run of ours waits for it, because this server hosts the agent; absent: the agent works elsewhere and fetches the answer itself. */
    run?: true
    /** No sandbox confines the program that asks. */
    unconfined?: true
    /** Of `changes`: what they do to each file, and what was left out with the reason. The bytes are its `Proposal`. */
    changes?: FileOfSet[]
    left?: { path: string; why: string }[]
    /** Of `changes`: files that were not written although they were approved, because somebody changed them meanwhile. */
    conflicts?: string[]
    /** Of a `diff`: what it does to which file. The bytes are its `Proposal`. */
    change: ChangeSummary | null
    /** The decision allows the change to overwrite a file that has changed meanwhile. */
    mayForce: boolean
    /** An operator edited it before they approved it. */
    isEdited: boolean
    /** A `diff` that is consumed is being written; from here on the file is on disk. */
    appliedAt: number | null
    /** Why a `diff` that is consumed was not written after all. It will not be. */
    notApplied?: string
    /** Why the agent could not write an approved `diff` when it last tried. It can try again. */
    refused?: string
  }
}

/** What lets an agent find its question again. */
interface AskedElsewhere {
  host: string
  /** Digest of what was asked. The same question finds this record while it waits, or until its answer was returned once. */
  contentKey: string
  /** When the answer was returned to the agent; null: never. */
  returnedAt: number | null
  /**
   * Since when nobody waits for the answer: the call was cancelled, or the agent's program has ended; absent: a call waits, or the
   * agent was told to ask again.
   */
  leftAt?: number
}

/** What a proposed change does to one file. */
export interface ChangeSummary {
  /** Relative to the workspace, with slashes. */
  path: string
  kind: 'create' | 'modify' | 'delete'
  addedLines: number
  removedLines: number
  warnings: string[]
  protectedBecause: string | null
  hasHiddenText: boolean
}

/** One file of a change of several. */
export interface FileOfSet extends ChangeSummary {
  risk: Risk
  isBinary: boolean
}

export const promptTypes = ['continuation', 'clarification', 'error_recovery', 'resource_warning'] as const
export type PromptType = (typeof promptTypes)[number]
export type PromptDecision = 'continue' | 'refine' | 'stop'

/** A question that an agent elsewhere forwards to its operator. */
export interface Prompt extends WaitBase, DecidedRecord {
  wait: 'prompt'
  status: StatusOf<'prompt'>
  supervised: AskedElsewhere
  promptText: string
  promptType: PromptType
  elapsedSeconds: number | null
  actionsTaken: number | null
  decision: PromptDecision | null
  /** With `refine`. */
  instruction: string | null
}

/** An agent elsewhere stands by until an operator tells it what to do next. */
export interface Standby extends WaitBase, DecidedRecord {
  wait: 'standby'
  status: StatusOf<'standby'>
  supervised: AskedElsewhere
  message: string
  timeoutSeconds: number
  instruction: string | null
}

/** An agent elsewhere has been silent for too long, or an MCP server needs a sign-in. */
export interface Alert extends WaitBase, DecidedRecord {
  wait: 'alert'
  /** Absent: an agent is silent. */
  signIn?: { server: string; url: string; why: string }
  status: StatusOf<'alert'>
  supervised: Pick<AskedElsewhere, 'host'>
  lastTool: string | null
  lastActivityAt: number
  /** At the time of the alert. */
  idleSeconds: number
  nudgeCount: number
  nudgeMessage: string | null
  lastNudgeAt: number | null
  /** How the last nudge reached the agent; null: nothing was open, so it waits for the agent's next call. */
  nudgedBy: string | null
  progressSnapshot: ProgressItem[] | null
}

/** Records of agents elsewhere. No run of ours waits for them, so an answer starts none. */
export type SupervisedRecord = Exclude<PersonRecord, Approval> | SupervisedApproval
export type HostApproval = Approval & { supervised: object }
export type SupervisedApproval = HostApproval
export type AskedRecord = Extract<SupervisedRecord, { wait: AskedKind }>
/** Those that the agent asks in its own words. An approval has a title and a description in their place. */
export type AskedInWords = Exclude<AskedRecord, SupervisedApproval>

export function wordsOfAgent(record: AskedInWords): string {
  switch (record.wait) {
    case 'prompt':
      return record.promptText
    case 'standby':
      return record.message
  }
}

export const isSupervised = (wait: AnyRecord): wait is SupervisedRecord =>
  wait.wait === 'approval' ? isSupervisedApproval(wait) : wait.wait !== 'client_call' && wait.supervised !== undefined

/** A coding agent asked it, elsewhere or hosted by this server: the owner of its session answers. */
export const isOfCodingAgent = (wait: AnyRecord): wait is SupervisedRecord => isSupervised(wait) || isHostApproval(wait)

/** An agent elsewhere asked it. */
export const isSupervisedApproval = (wait: AnyRecord): wait is SupervisedApproval =>
  isHostApproval(wait) && wait.supervised.run !== true

/** An agent in a host's program asked it, elsewhere or hosted by this server. */
export const isHostApproval = (wait: AnyRecord): wait is HostApproval =>
  wait.wait === 'approval' && wait.supervised !== undefined

/** Since when nobody waits for the answer to a record that is still open; null: somebody does. */
export const nobodyWaitsSince = ({
  status,
  supervised,
}: Pick<AnyRecord, 'status'> & { supervised?: object }): number | null =>
  status === 'pending' && supervised !== undefined && 'leftAt' in supervised && typeof supervised.leftAt === 'number'
    ? supervised.leftAt
    : null

export const NOBODY_WAITS =
  'Nobody waits for this answer now: the call was cancelled, or the agent’s program has ended. Your answer is kept in case it asks again.'

/** Whether the record still wants something of a person. */
export const isWaiting = ({ status }: AnyRecord): boolean => openRecordStatuses.includes(status)

/** When it was decided. What ended without a decision keeps the time at which it was asked. */
export const endedAt = (record: PersonRecord): number => record.decidedAt ?? record.createdAt

/** Whether the record may get this status. Nobody can answer in the place of a tool that an agent elsewhere calls. */
export const recordMayBecome = (record: AnyRecord, status: AnyRecord['status']): boolean =>
  arrowsOf(record).includes(status) && !(status === 'answered' && isSupervised(record))

const arrowsOf = ({ wait, status }: AnyRecord): readonly string[] =>
  (recordKinds[wait].next as Readonly<Partial<Record<string, readonly string[]>>>)[status] ?? []

export const isAsked = (record: SupervisedRecord): record is AskedRecord => recordKinds[record.wait].askedBy === 'agent'

/** What a person can do about a record while it waits, in the order in which it is offered. */
export function actionNamesOf(record: PersonRecord): readonly ActionName[] {
  if (record.wait === 'alert' && record.signIn !== undefined) return ['dismiss']
  if (record.wait !== 'approval') return recordKinds[record.wait].actions
  const names: readonly ActionName[] = recordKinds.approval.actions[record.kind]
  // The protocol of a hosted agent takes yes or no to a call.
  if (record.kind === 'permission' && record.supervised?.run === true) return names.filter((one) => one !== 'edit')
  // A file that goes has no text to edit.
  return record.supervised?.change?.kind === 'delete' ? names.filter((one) => one !== 'edit') : names
}

export interface ClientCall extends WaitBase {
  wait: 'client_call'
  status: StatusOf<'client_call'>
  /** `continue`: the model is told that the client did not answer in time. `complete`: the wait ends, and no run continues. */
  onExpiry: 'continue' | 'complete'
  answeredAt: number | null
}

/** Id of the wait for a client call: the UUID part of the call's id, because some doors need a UUID. */
export const clientCallId = (callId: string): string => callId.replace(/^call_/, '')

/** The first answer to a pending wait wins. Later ones are told who answered. */
export interface WaitAnswer {
  waitId: string
  at: number
  /** The user who answered, or `timeout`. */
  by: string
  /** The channel of a person's answer: `http`, `ctl`, `slack`, … */
  via?: string
  outcome:
    | {
        type: 'approved'
        reason: string | null
        editedArguments: string | null
        editedDigest: string | null
        /** Whose yes it is. Needed where several people have to say yes; the approval stays pending until enough have. */
        yes?: Omit<Yes, 'at'>
      }
    | { type: 'rejected'; reason: string | null }
    /** A person gave the result in the tool's place, or the answer to a question. */
    | { type: 'responded'; response: string; reason: string | null }
    /** The client sent a result. Its message is among the new messages of the run. */
    | { type: 'answered' }
    | { type: 'expired' }
    /** Nobody waits for the answer any more. */
    | { type: 'interrupted' }
}

export const hasExpired = ({ expiresAt }: Pick<AnyRecord, 'expiresAt'>, now: number): boolean =>
  expiresAt !== null && expiresAt <= now
