// One call of a user's function: arguments in, text out.

import { boundedJson, NotJson } from '../../json/bounded-json.ts'
import type {
  ApprovalNeed,
  BoundTool,
  Review,
  ReviewRequest,
  ServerTool,
  ToolCallRequest,
  ToolOutcome,
} from '../tool.ts'
import { type Ask, createAsk } from './ask-person.ts'
import { explainIssues, type StandardSchema } from './standard-schema.ts'
import type { StrayErrors } from './stray-errors.ts'
import { createToolContext, type ReviewContext, type ToolContext } from './tool-context.ts'
import { isToolError } from './tool-error.ts'

export interface FunctionCallDeps {
  /** The tool's name. */
  name: string
  run: (args: unknown, context: ToolContext) => unknown
  /** The code's own schema, with its refinements and transforms. The engine has already checked the JSON Schema. */
  check: StandardSchema | null
  strays: StrayErrors
}

export function createFunctionCall(deps: FunctionCallDeps): ServerTool['call'] {
  const { strays, name } = deps
  return async (call, signal) => {
    const { promise: failure, reject } = Promise.withResolvers<never>()
    /** The tool's own signal: what its listeners throw counts as the tool's error, whoever aborts. */
    const stop = new AbortController()
    let isOpen = true
    const { promise: left, resolve: leave } = Promise.withResolvers<ToolOutcome>()
    let hasLeft = false
    const scope = {
      tool: name,
      log: call.voice.log.with({ call_id: call.callId }),
      fail(error: unknown): boolean {
        // Work that was under way beside the question is cut off by the signal, and nobody waits for it.
        if (hasLeft) return true
        if (!isOpen || signal.aborted) return false
        isOpen = false
        reject(error)
        // What still works for the call can stop.
        strays.within(scope, () => stop.abort(error))
        return true
      },
    }
    function end(outcome: ToolOutcome): void {
      if (!isOpen || signal.aborted) return
      isOpen = false
      hasLeft = true
      leave(outcome)
      strays.within(scope, () => stop.abort())
    }
    const ask = createAsk({
      answers: call.answers,
      suspend: (question) => strays.outside(() => end({ content: '', isError: false, question })),
      fail: (message) => strays.outside(() => end(failed(message))),
    })
    const abort = () => strays.within(scope, () => stop.abort(signal.reason))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([strays.within(scope, () => callFunction(deps, call, stop.signal, ask)), failure, left])
    } catch (error) {
      if (isToolError(error)) return failed(error.message || 'The tool failed.')
      if (!(error instanceof NotJson)) throw error
      call.voice.log.error('a tool gave back what cannot be sent', { call_id: call.callId, problem: error.message })
      return failed(`The tool has done its work, but its result cannot be sent: ${error.message}.`)
    } finally {
      isOpen = false
      signal.removeEventListener('abort', abort)
    }
  }
}

async function callFunction(
  { run, check, strays }: FunctionCallDeps,
  call: ToolCallRequest,
  signal: AbortSignal,
  ask: Ask,
): Promise<ToolOutcome> {
  // The function may change its arguments, and the call may be repeated.
  const given = structuredClone(call.arguments)
  const checked = check === null ? { value: given } : await check['~standard'].validate(given)
  if (checked.issues !== undefined) return failed(`The arguments are not valid. ${explainIssues(checked.issues)}`)
  signal.throwIfAborted()
  const { context, shareState } = createToolContext(call, signal, strays, ask)
  const result = await run(checked.value, context)
  shareState()
  return { ...resultText(result, call.resultChars), isError: false }
}

type Reviewed = (args: unknown, context: ReviewContext) => unknown

interface ReviewDeps extends Pick<FunctionCallDeps, 'name' | 'check' | 'strays'> {
  preview: Reviewed | undefined
  needsApproval: Reviewed | undefined
}

/** What the tool's own code says about a call before it runs. Errors are the caller's business: a person is asked all the same. */
export function createReview({
  preview,
  needsApproval,
  ...deps
}: ReviewDeps): Pick<BoundTool, 'preview' | 'needsApproval'> {
  const reviewWith = <T>(code: Reviewed | undefined): Review<T> | undefined =>
    code && (async (args, review, signal) => (await reviewed(deps, code, args, review, signal)) as T)
  return { preview: reviewWith<string>(preview), needsApproval: reviewWith<boolean | ApprovalNeed>(needsApproval) }
}

async function reviewed(
  { name, check, strays }: Omit<ReviewDeps, 'preview' | 'needsApproval'>,
  code: Reviewed,
  args: Record<string, unknown>,
  { sessionId, owner, agent, log }: ReviewRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { promise: failure, reject } = Promise.withResolvers<never>()
  let isOpen = true
  const scope = {
    tool: name,
    log,
    fail(error: unknown): boolean {
      if (!isOpen) return false
      reject(error)
      return true
    },
  }
  async function work(): Promise<unknown> {
    const given = structuredClone(args)
    const checked = check === null ? { value: given } : await check['~standard'].validate(given)
    if (checked.issues !== undefined) throw new Error(`The arguments are not valid. ${explainIssues(checked.issues)}`)
    return code(checked.value, { session: sessionId, user: owner, agent, signal, log })
  }
  try {
    return await Promise.race([strays.within(scope, work), failure])
  } finally {
    isOpen = false
  }
}

/** A string stays as it is, nothing becomes the empty text, anything else JSON of at most `limit` characters. Throws `NotJson`. */
function resultText(result: unknown, limit: number): Pick<ToolOutcome, 'content' | 'isCut'> {
  if (typeof result === 'string') return { content: result }
  if (result === undefined) return { content: '' }
  const { text, isCut } = boundedJson(result, limit, refuseHollow)
  if (text === undefined) throw new NotJson(`a ${typeof result} is not JSON`)
  return { content: text, ...(isCut ? { isCut } : {}) }
}

/** JSON silently turns a Map, a Response or a Promise into `{}`. */
function refuseHollow(value: object): NotJson | null {
  const prototype: unknown = Object.getPrototypeOf(value)
  // In every realm, the prototype of plain objects has no prototype itself.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return null
  return new NotJson(`JSON cannot carry a ${value.constructor?.name || 'value of this class'}`)
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })
