// What a suspended run waits for: a person's yes or no, or the result of a tool that runs at the client. It is a row, not a
// timer or a socket: whoever answers, through whichever door and however much later, starts the run's continuation.

import type { AnswerableBy } from './approval-rule.ts'
import type { Risk } from './tool-settings.ts'

export type Wait = Approval | ClientCall

interface WaitBase {
  /** UUIDv7. An AG-UI interrupt, an approval and a tool execution have this id on the wire. */
  id: string
  sessionId: string
  owner: string
  agent: string
  /** The run that waits; while its continuation runs, that one. */
  runId: string
  callId: string
  tool: string
  /** As the model wrote them: JSON text. */
  arguments: string
  /** The sub-agent that made the call; null: the agent itself. */
  lane: string | null
  createdAt: number
  /** Epoch ms; null: it waits for ever. */
  expiresAt: number | null
  /** The run that its answer started or that took it. */
  continuationRunId: string | null
}

export const approvalStatuses = ['pending', 'approved', 'rejected', 'expired', 'interrupted', 'consumed'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

/**
 * pending → approved → consumed; pending → rejected | expired | interrupted; approved → interrupted, when the run that took the
 * yes ended without making the call. Every change is guarded in the store.
 */
export interface Approval extends WaitBase {
  wait: 'approval'
  status: ApprovalStatus
  kind: 'tool_call'
  title: string
  description: string
  risk: Risk
  /** SHA-256 over what is approved: `domain/digest.ts`. */
  digest: string
  /** Of the rules that asked, so that an answer can be judged by them later. */
  policyVersion: string
  answerableBy: AnswerableBy
  /** SHA-256 of a file before and after, where a file is meant. */
  beforeHash: string | null
  afterHash: string | null
  /** Where it was announced, by channel, so that the message can be updated. */
  messageRefs: Record<string, string>
  decidedAt: number | null
  decidedBy: string | null
  reason: string | null
  /** Given with the answer, or with an earlier one that no longer counts; they replace the model's. */
  editedArguments: string | null
  consumedAt: number | null
}

export interface ClientCall extends WaitBase {
  wait: 'client_call'
  status: 'pending' | 'answered' | 'expired' | 'interrupted'
  /** `continue`: the model is told that the client did not answer in time. `complete`: nobody asks any more. */
  onExpiry: 'continue' | 'complete'
  answeredAt: number | null
}

/** The id of the wait for a call of the client: the part of the call's id that we minted, a UUID, as some doors want it. */
export const clientCallId = (callId: string): string => callId.replace(/^call_/, '')

/** The first that finds the wait pending wins; every later one is told who did. */
export interface WaitAnswer {
  waitId: string
  at: number
  /** Who answered: a user, or what happened (`timeout`). */
  by: string
  outcome:
    | { type: 'approved'; reason: string | null; editedArguments: string | null; editedDigest: string | null }
    | { type: 'rejected'; reason: string | null }
    /** The client's result; its message is among those that the run brings. */
    | { type: 'answered' }
    | { type: 'expired' }
}
