// One call of a tool: the input is checked, progress is told while it works, and every ending becomes a result that a model can read.

import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Telemetry } from '../../domain/telemetry.ts'
import type { CallLimit } from '../../hosts/host.ts'
import { hosts } from '../../hosts/hosts.ts'
import type { ResumableCall } from '../../supervision/agent-service/agent-service.ts'
import { inputProblems, validate } from '../shared/request/validate.ts'
import type { McpAgent, McpTool, McpToolAnswer } from './tool-table.ts'

interface ServedCall {
  agent: McpAgent
  mcpReq: ServerContext['mcpReq']
  isRead: () => boolean
  resumable: ResumableCall<CallToolResult> | null
}

interface ToolServices {
  clock: Clock
  log: Logger
  telemetry: Telemetry
  /** Aborts when the server stops, with `SERVER_STOPS` as its reason. */
  stopping: AbortSignal
}

const PROGRESS_MS = 15_000

export async function serveTool(
  tool: McpTool,
  input: unknown,
  { agent, mcpReq, isRead, resumable }: ServedCall,
  { clock, log, telemetry, stopping }: ToolServices,
): Promise<CallToolResult> {
  const checked = validate(tool.input, input ?? {})
  if (!checked.success) return resultOf(invalidInput(inputProblems(checked.issues)))
  const span = telemetry.mcpCall(tool.name, mcpReq._meta ?? {})
  const progress = createProgress(mcpReq, clock)
  try {
    const answer = await span.within(() =>
      tool.call(checked.data, {
        agent,
        signal: AbortSignal.any([stopping, mcpReq.signal]),
        progress: progress.say,
        isRead,
        limitMs: callLimitMs(agent.client, progress.isAsked, agent.hostLimitMs),
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

function createProgress(mcpReq: ServerContext['mcpReq'], clock: Clock) {
  const progressToken = mcpReq._meta?.progressToken
  const isAsked = progressToken !== undefined
  let latest = ''
  let count = 0
  let isOver = !isAsked
  let cancel = () => {}
  function send(): void {
    count += 1
    const params = { progressToken, progress: count, message: latest }
    // A client that has gone gets its answer by asking again.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    cancel = clock.after(PROGRESS_MS, send)
  }
  return {
    isAsked,
    say(message: string): void {
      if (isOver) return
      latest = message
      cancel()
      send()
    },
    stop(): void {
      isOver = true
      cancel()
    },
  }
}

// How long a host lets a tool call block before it gives up. Found out with the real hosts; docs/do/connect-a-coding-agent.md names the versions.

/** Most clients are built on SDKs that wait for a minute. */
const UNKNOWN: Omit<CallLimit, 'client'> = { seconds: 60, isExtended: false }
const MARGIN_MS = 10_000
/** Claude Code ends every call after 27 hours. */
const EXTENDED_MS = 24 * 60 * 60 * 1000

/**
 * When to answer a call at the latest. `hostLimitMs` is what the host's configuration says, if we know it: it is a hard limit, also for
 * hosts that progress keeps waiting otherwise.
 */
export function callLimitMs(
  client: { name: string } | null,
  hasProgress: boolean,
  hostLimitMs: number | null = null,
): number {
  const known = Object.values(hosts).find(({ call }) => client !== null && call.client.test(client.name))
  const limit = known?.call ?? UNKNOWN
  const usual = limit.isExtended && hasProgress ? EXTENDED_MS : limit.seconds * 1000 - MARGIN_MS
  if (hostLimitMs === null) return usual
  const set = Math.max(hostLimitMs - MARGIN_MS, hostLimitMs / 2)
  // Such a host also gives up after silence, whatever its configuration says.
  return limit.isExtended ? Math.min(set, usual) : set
}
