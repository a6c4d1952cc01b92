import type { RunEvent } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { StartRequest } from '../../engine/ports/runs.ts'
import type { TestedEngine } from '../ask-agent.ts'

export interface ScriptedEngine extends TestedEngine {
  /** The requests so far, in order. */
  readonly requests: StartRequest[]
  /** Ids of the runs that were cancelled. */
  readonly cancelled: string[]
}

/** An engine whose runs have the events that the test gives. A run whose last event is not terminal never ends. */
export function createScriptedEngine(
  answer: (text: string, request: StartRequest) => readonly RunEvent[],
): ScriptedEngine {
  const requests: StartRequest[] = []
  const cancelled: string[] = []
  const runs = new Map<string, readonly RunEvent[]>()
  return {
    requests,
    cancelled,
    runs: {
      async start(request) {
        requests.push(request)
        const id = `run-${requests.length}`
        const session =
          'existing' in request.session ? request.session.existing : newSession(`session-${requests.length}`)
        const text = request.input.messages.map(({ content }) => String(content)).join('\n')
        runs.set(id, [{ type: 'RUN_STARTED', threadId: session.id, runId: id }, ...answer(text, request)])
        return { run: newRun(id, session, request), session, existing: false }
      },
      async *follow({ runId = '' }, signal) {
        const events = runs.get(runId) ?? []
        yield events.map((event, index) => ({
          seq: index + 1,
          runId,
          kind: 'event' as const,
          data: JSON.stringify(event),
        }))
        const last = events.at(-1)?.type
        if (last === 'RUN_FINISHED' || last === 'RUN_ERROR') return
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve()
          signal.addEventListener('abort', () => resolve())
        })
      },
      async cancel(run) {
        cancelled.push(run.id)
        return run
      },
    },
  }
}

const newSession = (id: string): SessionRecord => ({
  id,
  owner: 'local_user',
  agent: 'tester',
  activeAgent: null,
  status: 'active',
  createdAt: 0,
  lastActivity: 0,
  terminatedAt: null,
  lastTool: null,
  metadata: {},
  alias: null,
  messageCount: 0,
  state: undefined,
  unlisted: true,
})

const newRun = (id: string, session: SessionRecord, { input, origin }: StartRequest): RunRecord => ({
  id,
  sessionId: session.id,
  owner: session.owner,
  agent: session.agent,
  wireId: id,
  parentRunId: null,
  status: 'running',
  origin,
  input,
  createdAt: 0,
  startedAt: 0,
  finishedAt: null,
  usage: [],
  error: null,
  cancelRequested: false,
  firstSeq: 1,
  lastSeq: null,
  fence: 1,
  leaseOwner: 'test',
})

export const says = (text: string, messageId = 'm1'): RunEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text },
  { type: 'TEXT_MESSAGE_END', messageId },
]

export const calls = (toolCallName: string, args: unknown, toolCallId = toolCallName): RunEvent[] => {
  const text = JSON.stringify(args)
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName },
    // In two pieces, as models write them.
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: text.slice(0, 3) },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: text.slice(3) },
    { type: 'TOOL_CALL_END', toolCallId },
    { type: 'TOOL_CALL_RESULT', toolCallId, messageId: `result-${toolCallId}`, content: 'done' },
  ]
}

export const finished = (inputTokens = 10, outputTokens = 5): RunEvent => ({
  type: 'RUN_FINISHED',
  threadId: 't',
  runId: 'r',
  outcome: { type: 'success' },
  usage: [{ provider: 'p', model: 'm', inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }],
})
