// One call of a tool: the input is checked, progress is told while it works, and every ending becomes a result that a model can read.

import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { noTelemetry, type Telemetry } from '../../domain/telemetry.ts'
import { type ResumableCall, SERVER_STOPS } from '../../supervision/desk/agent-desk.ts'
import { inputProblems, validate } from '../shared/request/validate.ts'
import { callLimitMs } from './host-limits.ts'
import type { McpAgent, McpTool, McpToolAnswer } from './tool-table.ts'

export interface ServedCall {
  agent: McpAgent
  mcpReq: ServerContext['mcpReq']
  isRead: () => boolean
  resumable: ResumableCall<CallToolResult> | null
}

export interface ToolServices {
  clock: Clock
  log: Logger
  /** Left out: nobody is told of calls. */
  telemetry?: Telemetry | undefined
  /** Aborts when the server stops. */
  stopping: AbortSignal
}

const PROGRESS_MS = 15_000

export async function serveTool(
  tool: McpTool,
  input: unknown,
  { agent, mcpReq, isRead, resumable }: ServedCall,
  { clock, log, telemetry = noTelemetry, stopping }: ToolServices,
): Promise<CallToolResult> {
  const checked = validate(tool.input, input ?? {})
  if (!checked.success) return resultOf(invalidInput(inputProblems(checked.issues)))
  const span = telemetry.mcpCall(tool.name, mcpReq._meta ?? {})
  const progress = createProgress(mcpReq, clock)
  const abort = new AbortController()
  const onGone = () => abort.abort()
  const onStop = () => abort.abort(SERVER_STOPS)
  mcpReq.signal.addEventListener('abort', onGone)
  stopping.addEventListener('abort', onStop)
  try {
    if (stopping.aborted) onStop()
    else if (mcpReq.signal.aborted) onGone()
    const answer = await span.within(() =>
      tool.call(checked.data, {
        agent,
        signal: abort.signal,
        progress: progress.say,
        isRead,
        limitMs: callLimitMs(agent.client, progress.isAsked, agent.hostLimitMs),
        meta: mcpReq._meta ?? {},
        resumable:
          resumable === null ? null : { ...resumable, messageOf: (answer) => resumable.messageOf(resultOf(answer)) },
      }),
    )
    span.end({ isError: answer.isError })
    return resultOf(answer)
  } catch (error) {
    span.end({ isError: true })
    return resultOf(failed(error, tool, log))
  } finally {
    progress.stop()
    mcpReq.signal.removeEventListener('abort', onGone)
    stopping.removeEventListener('abort', onStop)
  }
}

function resultOf({ structured, isError, text }: McpToolAnswer): CallToolResult {
  return {
    content: [{ type: 'text', text: text ?? JSON.stringify(structured) }],
    ...(structured === null ? {} : { structuredContent: structured }),
    ...(isError ? { isError } : {}),
  }
}

function invalidInput(problems: readonly { pointer: string; detail: string }[]): McpToolAnswer {
  const faults = problems.map(({ pointer, detail }) => {
    const field = pointer.slice(1).replaceAll('/', '.')
    return field === '' ? detail : `${field}: ${detail}`
  })
  return errorAnswer('invalid_input', `The input is not valid. ${faults.join(' ')}`)
}

function failed(error: unknown, { name }: McpTool, log: Logger): McpToolAnswer {
  if (error instanceof ServerError) return errorAnswer(error.code, error.message)
  log.error('unexpected error', { error, tool: name })
  return errorAnswer('internal_error', 'The server could not answer. Its log has the reason. Nothing was decided.')
}

const errorAnswer = (code: string, message: string): McpToolAnswer => ({
  structured: { status: 'error', error_code: code, error_message: message },
  isError: true,
})

interface Progress {
  isAsked: boolean
  say(message: string): void
  stop(): void
}

function createProgress(mcpReq: ServerContext['mcpReq'], clock: Clock): Progress {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return { isAsked: false, say() {}, stop() {} }
  let latest = ''
  let count = 0
  let isOver = false
  let cancel = () => {}
  function send(): void {
    count += 1
    const params = { progressToken, progress: count, message: latest }
    // A client that has gone gets its answer by asking again.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    cancel = clock.after(PROGRESS_MS, send)
  }
  return {
    isAsked: true,
    say(message) {
      if (isOver) return
      latest = message
      cancel()
      send()
    },
    stop() {
      isOver = true
      cancel()
    },
  }
}
