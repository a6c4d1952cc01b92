// Runs the calls of one answer: intent on disk, then the call, then its result on disk. A crash in between is told apart later
// by what is there.

import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { StoredMessage, ToolCall } from '../domain/message.ts'
import type { RunRecord } from '../domain/run.ts'
import type { Tool, ToolOutcome } from '../tools/tool.ts'
import type { RunWriter } from './run-writer.ts'

export interface ToolStepDeps {
  tools: ReadonlyMap<string, Tool>
  clock: Clock
  ids: Ids
  log: Logger
}

const PARALLEL_CALLS = 8

/** Each result is committed as soon as it is there; resolves when all are. */
export async function runToolCalls(
  deps: ToolStepDeps,
  run: RunRecord,
  calls: readonly ToolCall[],
  writer: RunWriter,
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...calls]
  const work = async () => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
      const outcome = await callTool(deps, run, call, signal)
      if (signal.aborted) return
      try {
        await commitResult(deps, run, call, outcome, writer)
      } catch (error) {
        // The run ends here: what has not begun must not begin any more.
        waiting.length = 0
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL_CALLS, calls.length) }, work))
}

async function commitResult(
  deps: ToolStepDeps,
  run: RunRecord,
  call: ToolCall,
  outcome: ToolOutcome,
  writer: RunWriter,
): Promise<void> {
  const messageId = deps.ids.uuid()
  const createdAt = writer.timestamp()
  const shown = writer.emit({
    type: 'TOOL_CALL_RESULT',
    messageId,
    toolCallId: call.id,
    content: outcome.content,
    role: 'tool',
    timestamp: createdAt,
  })
  const content = typeof shown?.content === 'string' ? shown.content : outcome.content
  const message: StoredMessage = {
    id: messageId,
    role: 'tool',
    content,
    toolCallId: call.id,
    runId: run.id,
    createdAt,
    ...(outcome.isError ? { error: content } : {}),
  }
  await writer.commit({ messages: [message], lastTool: call.function.name })
}

async function callTool(deps: ToolStepDeps, run: RunRecord, call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
  const tool = deps.tools.get(call.function.name)
  if (tool === undefined)
    return failed(`There is no tool ${call.function.name}. Tools: ${[...deps.tools.keys()].join(', ') || 'none'}.`)
  const args = parseArguments(call.function.arguments)
  if (args === null) return failed('The arguments are not a JSON object. Send the call again with valid JSON.')

  const timeout = new AbortController()
  const stopTimer = deps.clock.after(tool.timeoutMs, () => timeout.abort())
  const both = AbortSignal.any([signal, timeout.signal])
  try {
    const request = {
      callId: call.id,
      arguments: args,
      sessionId: run.sessionId,
      runId: run.id,
      owner: run.owner,
      forwardedProps: run.input.forwardedProps,
    }
    return await Promise.race([tool.call(request, both), aborted(both)])
  } catch (error) {
    if (timeout.signal.aborted && !signal.aborted)
      return failed(`The tool did not answer within ${tool.timeoutMs / 1000} s.`)
    if (error instanceof ServerError) return failed(error.message)
    deps.log.warn('a tool threw', { tool: tool.name, run_id: run.id, error })
    return failed('The tool failed.')
  } finally {
    stopTimer()
  }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })

/** A tool that ignores its signal must not keep the run alive. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function parseArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
