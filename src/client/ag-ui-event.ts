// The AG-UI events of a run. The client has no dependencies, so these are its own types. A test compares them with the server's.

type Base = { timestamp?: number; metadata?: Record<string, unknown> }
/** An event inside a sub-agent names its run. */
type Inside = Base & { subagentRunId?: string }

export interface EventUsage {
  provider?: string
  model?: string
  inputTokens?: number
  outputTokens?: number
  totalTokens?: number
  reasoningTokens?: number
  cachedInputTokens?: number
  cacheWriteInputTokens?: number
}

/** A question of a run to a person. */
export interface EventInterrupt {
  id: string
  reason: string
  message?: string
  toolCallId?: string
  responseSchema?: Record<string, unknown>
  expiresAt?: string
  metadata?: Record<string, unknown>
  subagentRunId?: string
}

export interface PatchOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  path: string
  from?: string
  value?: unknown
}

/** A message in a snapshot. */
export interface EventMessage {
  id: string
  role: 'developer' | 'system' | 'assistant' | 'user' | 'tool' | 'activity' | 'reasoning'
  content?: unknown
  toolCalls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  toolCallId?: string
}

interface EventData {
  RUN_STARTED: Base & {
    threadId: string
    runId: string
    protocolVersion?: string
    parentRunId?: string
    input?: unknown
  }
  RUN_FINISHED: Base & {
    threadId: string
    runId: string
    result?: unknown
    outcome?:
      | { type: 'success'; pendingToolCallIds?: string[] }
      | { type: 'interrupt'; interrupts: EventInterrupt[] }
      | { type: 'cancelled' }
    usage?: EventUsage[]
  }
  RUN_ERROR: Base & { message: string; code?: string; usage?: EventUsage[] }
  STEP_STARTED: Inside & { stepName: string }
  STEP_FINISHED: Inside & { stepName: string }
  TEXT_MESSAGE_START: Inside & { messageId: string; role?: string; name?: string }
  TEXT_MESSAGE_CONTENT: Inside & { messageId: string; delta: string }
  TEXT_MESSAGE_END: Inside & { messageId: string }
  REASONING_START: Inside & { messageId: string }
  REASONING_MESSAGE_START: Inside & { messageId: string; role: 'reasoning' }
  REASONING_MESSAGE_CONTENT: Inside & { messageId: string; delta: string }
  REASONING_MESSAGE_END: Inside & { messageId: string }
  REASONING_END: Inside & { messageId: string }
  REASONING_ENCRYPTED_VALUE: Inside & { subtype: 'tool-call' | 'message'; entityId: string; encryptedValue: string }
  TOOL_CALL_START: Inside & { toolCallId: string; toolCallName: string; parentMessageId?: string }
  TOOL_CALL_ARGS: Inside & { toolCallId: string; delta: string }
  TOOL_CALL_END: Inside & { toolCallId: string }
  /** `content` is text or a list of message parts. */
  TOOL_CALL_RESULT: Inside & { messageId: string; toolCallId: string; content: unknown; role?: 'tool' }
  STATE_SNAPSHOT: Inside & { snapshot: unknown }
  STATE_DELTA: Inside & { delta: PatchOperation[] }
  MESSAGES_SNAPSHOT: Base & { messages: EventMessage[] }
  ACTIVITY_SNAPSHOT: Inside & {
    messageId: string
    activityType: string
    content: Record<string, unknown>
    replace?: boolean
  }
  ACTIVITY_DELTA: Inside & { messageId: string; activityType: string; patch: PatchOperation[] }
  RAW: Inside & { event: unknown; source?: string }
  CUSTOM: Inside & { name: string; value: unknown }
  SUBAGENT_STARTED: Base & {
    subagentRunId: string
    name: string
    description?: string
    parentSubagentRunId?: string
    parentToolCallId?: string
    parentMessageId?: string
  }
  SUBAGENT_FINISHED: Base & {
    subagentRunId: string
    result?: unknown
    outcome?: { type: 'success' } | { type: 'suspended'; interruptIds?: string[] }
  }
  SUBAGENT_ERROR: Base & { subagentRunId: string; message: string; code?: string }
}

export type RunEventType = keyof EventData
export type RunEvent = { [T in RunEventType]: { type: T } & EventData[T] }[RunEventType]
