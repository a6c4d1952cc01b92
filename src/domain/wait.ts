// What a suspended run waits for: a person's decision, or the result of a tool that runs in the client. A wait is a row in the
// store, not a timer or a socket: an answer through any door, at any later time, starts the continuation of the run.

import type { AnswerableBy } from './approval-rule.ts'
import type { Risk } from './tool-settings.ts'

export type Wait = Approval | ClientCall

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
  reason: string | null
}

interface WaitBase extends OpenRecord {
  /** The run that waits; while its continuation runs, the continuation. */
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

export const approvalStatuses = ['pending', 'approved', 'rejected', 'expired', 'interrupted', 'consumed'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

/**
 * pending → approved → consumed; pending → rejected | expired | interrupted; approved → interrupted, if the run that received
 * the approval ended without making the call. The store checks every change.
 */
export interface Approval extends WaitBase, DecidedRecord {
  wait: 'approval'
  status: ApprovalStatus
  kind: 'tool_call'
  title: string
  description: string
  risk: Risk
  /** SHA-256 of what is approved: see `json/digest.ts`. */
  digest: string
  /** Version of the rules and the tool that asked. An answer only counts if they have not changed. */
  policyVersion: string
  answerableBy: AnswerableBy
  /** SHA-256 of a file before and after the change, if the call changes a file. */
  beforeHash: string | null
  afterHash: string | null
  /** Arguments that replace the model's. They came with the answer, or with an earlier answer that no longer counts. */
  editedArguments: string | null
  consumedAt: number | null
}

export interface ClientCall extends WaitBase {
  wait: 'client_call'
  status: 'pending' | 'answered' | 'expired' | 'interrupted'
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
  outcome:
    | { type: 'approved'; reason: string | null; editedArguments: string | null; editedDigest: string | null }
    | { type: 'rejected'; reason: string | null }
    /** The client sent a result. Its message is among the new messages of the run. */
    | { type: 'answered' }
    | { type: 'expired' }
}

export const hasExpired = ({ expiresAt }: Pick<Wait, 'expiresAt'>, now: number): boolean =>
  expiresAt !== null && expiresAt <= now
