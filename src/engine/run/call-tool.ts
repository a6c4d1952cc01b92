// One call of a server tool: with its time, its further tries and its voice.

import { sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { ToolCall } from '../../domain/message.ts'
import { jsonProblem } from '../../json/json-limits.ts'
import type { ServerTool, ToolOutcome, ToolVoice } from '../../tools/tool.ts'
import type { AgentParts, Lane, RunScope } from './run-scope.ts'

/** Never throws: failure is an outcome. After the run was told to stop, the outcome means nothing. */
export async function callTool(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  tool: ServerTool,
  call: ToolCall,
  args: Record<string, unknown>,
): Promise<ToolOutcome> {
  // A call whose effect must not come twice is never tried twice, whatever is configured.
  const tries = tool.effect === 'once' ? 1 : 1 + tool.retries
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(scope, lane, agent, tool, call, args)
    if (outcome.isPassing !== true || attempt >= tries || scope.signal.aborted) return outcome
    await sleep(scope.clock, FIRST_PAUSE_MS * 2 ** (attempt - 1), scope.signal)
  }
}

/** Before the second try; doubled before each further one. */
const FIRST_PAUSE_MS = 250

async function tryOnce(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  tool: ServerTool,
  call: ToolCall,
  args: Record<string, unknown>,
): Promise<ToolOutcome> {
  const { run, signal, log } = scope
  const ended = new AbortController()
  const stopTimer = scope.clock.after(tool.timeoutMs, () => ended.abort())
  const both = AbortSignal.any([signal, ended.signal])
  const { voice, silence } = createVoice(scope, lane, tool, call)
  try {
    const request = {
      callId: call.id,
      arguments: args,
      sessionId: run.sessionId,
      runId: run.id,
      owner: run.owner,
      agent: agent.definition.name,
      forwardedProps: run.input.forwardedProps,
      resultChars: agent.definition.limits.toolResultChars,
      voice,
    }
    return await Promise.race([tool.call(request, both), aborted(both)])
  } catch (error) {
    if (ended.signal.aborted && !signal.aborted)
      return failed(`The tool did not answer within ${tool.timeoutMs / 1000} s.`)
    if (error instanceof ServerError) return failed(error.message)
    if (!signal.aborted) log.warn('a tool threw', { tool: tool.name, call_id: call.id, error })
    return failed('The tool failed.')
  } finally {
    silence()
    stopTimer()
  }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true, isPassing: true })

/** A tool that ignores its signal must not keep the run alive. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Longer or odd activity ids would end up as keys in clients. */
const MAX_NAME = 128

/** Tools are code that nobody has checked, and a client fails the whole run for an event that it cannot read. */
function asJson(value: unknown): unknown {
  const problem = jsonProblem(value)
  if (problem !== null)
    throw new ServerError('tool_failed', `The tool wanted to show something that is too large. ${problem}`)
  return JSON.parse(JSON.stringify(value) ?? 'null')
}

function createVoice(
  { writer, state, log }: RunScope,
  { pen }: Lane,
  tool: ServerTool,
  call: ToolCall,
): { voice: ToolVoice; silence: () => void } {
  let heard = true
  const timestamp = () => pen.timestamp()
  const show = () => {
    // What it says is seen at once. That it is in the log is not waited for: the result's commit is behind it.
    writer.flush().catch((error: unknown) => log.warn('an event of a tool is late', { error }))
  }
  function activity(id: string, activityType: string, content: Record<string, unknown>): void {
    if (!heard) return
    const messageId = `${call.id}_${id.slice(0, MAX_NAME)}`
    const value = asJson(content)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new TypeError('The content of an activity is an object.')
    }
    pen.emit({
      type: 'ACTIVITY_SNAPSHOT',
      messageId,
      activityType: activityType.slice(0, MAX_NAME),
      content: { ...value },
      timestamp: timestamp(),
    })
    show()
  }
  const voice: ToolVoice = {
    log: log.with({ tool: tool.name, call_id: call.id }),
    state: () => state.read(),
    setState(next) {
      if (!heard) return
      state.replace(next)
      show()
    },
    emit(name, value) {
      if (!heard) return
      pen.emit({ type: 'CUSTOM', name: String(name).slice(0, MAX_NAME), value: asJson(value), timestamp: timestamp() })
      show()
    },
    activity,
    progress(done, total, message) {
      activity('progress', 'PROGRESS', {
        tool: tool.name,
        done,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      })
    },
  }
  return {
    voice,
    silence: () => {
      heard = false
    },
  }
}
