// Records of all kinds that wait for a person, and deliveries about them.

import type { Alert, Approval, PersonRecord, Prompt, Standby } from '../../domain/records/record.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import type { RecordLookup } from '../operator.ts'

const shared = {
  id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  sessionId: 'session',
  owner: 'ada',
  agent: 'claude-code',
  createdAt: 0,
  expiresAt: null,
  runId: 'run',
  callId: 'call',
  tool: 'send_mail',
  arguments: '{"to":"secret@example.com"}',
  lane: null,
  continuationRunId: null,
  messageRefs: {},
  decidedAt: null,
  decidedBy: null,
  decidedVia: null,
  reason: null,
  status: 'pending',
} as const

const supervised = { host: 'claude-code', contentKey: 'key', returnedAt: null }

export const sampleApproval = (values: Partial<Approval> = {}): Approval => ({
  ...shared,
  wait: 'approval',
  kind: 'tool_call',
  title: 'Mail secret@example.com',
  description: 'secret words',
  action: null,
  risk: 'high',
  digest: 'digest',
  policyVersion: '1',
  answerableBy: 'operator',
  beforeHash: null,
  afterHash: null,
  editedArguments: null,
  consumedAt: null,
  ...values,
})

export const samplePrompt = (values: Partial<Prompt> = {}): Prompt => ({
  ...shared,
  wait: 'prompt',
  supervised,
  promptText: 'secret words',
  promptType: 'continuation',
  elapsedSeconds: null,
  actionsTaken: null,
  decision: null,
  instruction: null,
  ...values,
})

export const sampleInstruction = (values: Partial<Standby> = {}): Standby => ({
  ...shared,
  wait: 'standby',
  supervised,
  message: 'secret words',
  timeoutSeconds: 0,
  instruction: null,
  ...values,
})

export const sampleAlert = (values: Partial<Alert> = {}): Alert => ({
  ...shared,
  wait: 'alert',
  supervised: { host: 'claude-code' },
  lastTool: 'Bash',
  lastActivityAt: 0,
  idleSeconds: 300,
  nudgeCount: 0,
  nudgeMessage: null,
  lastNudgeAt: null,
  nudgedBy: null,
  progressSnapshot: null,
  ...values,
})

/** The item of the feed that says what state a record is in. */
export const itemOf = (wait: PersonRecord, n = 1): FeedItem => ({
  n,
  at: wait.createdAt,
  kind: 'wait',
  type: wait.wait,
  id: wait.id,
  sessionId: wait.sessionId,
  owner: wait.owner,
  agent: wait.agent,
  status: wait.status,
  risk: wait.wait === 'approval' ? wait.risk : null,
})

export const deliveryOf = (item: FeedItem | null, values: Partial<Delivery> = {}): Delivery => ({
  channel: 'test',
  n: item?.n ?? 1,
  item,
  count: 1,
  attempts: 0,
  nextTryAt: 0,
  ...values,
})

/** A lookup with one record, which the test changes. */
export function sampleLookup(first: PersonRecord): { lookup: RecordLookup; set(wait: PersonRecord | null): void } {
  let record: PersonRecord | null = first
  return {
    lookup: { find: async () => record },
    set(wait) {
      record = wait
    },
  }
}
