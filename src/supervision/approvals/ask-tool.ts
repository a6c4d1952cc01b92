// What a tool's own code says about a call before a person is asked: whether it needs an approval, and what it will do. The code runs
// for a short time, and whatever goes wrong in it, the person is asked.

import { abortAfter, untilAborted } from '../../domain/abort.ts'
import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import { isRecord } from '../../domain/is-record.ts'
import { visibleCode, visibleText } from '../../domain/text/visible-text.ts'
import type { ReviewRequest } from '../../tools/tool.ts'
import type { RuledCall } from './call-rules.ts'

export interface Need {
  /** Null: the tool has no opinion. */
  asks: boolean | null
  risk?: Risk | undefined
  /** Why, for the person who decides. */
  reason?: string | undefined
}

const TIME_MS = 5_000
const MAX_PREVIEW = 20_000
const MAX_REASON = 500
const MAX_ACTION = 300

/** Never throws. */
export async function needOf(clock: Clock, call: RuledCall): Promise<Need> {
  const { tool, arguments: args } = call
  if (tool.needsApproval === undefined) return { asks: null }
  try {
    const said: unknown = await inTime(clock, (signal) => tool.needsApproval?.(args, reviewOf(call), signal))
    if (typeof said === 'boolean') return { asks: said }
    if (!isRecord(said)) throw new Error('It gave back neither true, false nor { risk, reason }.')
    const risk = risks.find((one) => one === said.risk)
    if (said.risk !== undefined && risk === undefined) throw new Error(`There is no risk ${JSON.stringify(said.risk)}.`)
    const reason = typeof said.reason === 'string' ? bounded(visibleText(said.reason), MAX_REASON) : undefined
    return { asks: true, risk, reason }
  } catch (error) {
    call.log.warn('a tool could not say whether its call needs an approval, so a person is asked', {
      tool: tool.name,
      error,
    })
    return { asks: true, reason: 'The tool could not say whether this call needs an approval.' }
  }
}

/** Null: the tool has none. Never throws. */
export async function previewOf(clock: Clock, call: RuledCall): Promise<string | null> {
  const { tool, arguments: args } = call
  if (tool.preview === undefined) return null
  try {
    const text: unknown = await inTime(clock, (signal) => tool.preview?.(args, reviewOf(call), signal))
    if (typeof text !== 'string') throw new Error('It gave back something other than a text.')
    const lines = visibleCode(text.slice(0, 2 * MAX_PREVIEW).split('\n'))
    return bounded(lines.join('\n'), MAX_PREVIEW, text.length)
  } catch (error) {
    call.log.warn('a tool gave no preview', { tool: tool.name, error })
    return `no preview: ${bounded(visibleText(error instanceof Error ? error.message : 'The tool failed.'), MAX_REASON)}`
  }
}

/** What the call will really do, in one line in which no character is hidden. Null: the tool does not say. */
export function actionOf({ tool, arguments: args }: Pick<RuledCall, 'tool' | 'arguments'>): string | null {
  try {
    const said = tool.action?.(args) ?? null
    return said === null ? null : bounded(visibleText(said.slice(0, 2 * MAX_ACTION)), MAX_ACTION, said.length)
  } catch {
    // With arguments that cannot be sent the call will fail. The person sees the arguments themselves.
    return null
  }
}

const reviewOf = ({ sessionId, owner, agent, log }: RuledCall): ReviewRequest => ({
  sessionId,
  owner,
  agent: agent.name,
  log,
})

/** A tool that hangs must not keep the question from the person. */
async function inTime<T>(clock: Clock, work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
  using late = abortAfter(clock, TIME_MS, { reason: () => new Error(`It took longer than ${TIME_MS / 1_000} s.`) })
  return await untilAborted(Promise.resolve(work(late.signal)), late.signal)
}

/** `length` is that of the whole text, if only its beginning is given. */
function bounded(text: string, most: number, length = text.length): string {
  if (text.length <= most && length <= most) return text
  return `${text.slice(0, most).toWellFormed()}… (${Math.max(length, text.length) - most} more characters)`
}
