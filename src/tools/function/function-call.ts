// One call of a user's function: arguments in, text out.

import { NotJson } from '../../json/bounded-json.ts'
import type { ServerTool, ToolCallRequest, ToolOutcome } from '../tool.ts'
import { resultText } from './result-text.ts'
import type { Order } from './source/read-parameters.ts'
import { explainIssues, type StandardSchema } from './standard-schema.ts'
import type { StrayErrors } from './stray-errors.ts'
import { createToolContext } from './tool-context.ts'
import { isToolError } from './tool-error.ts'

export interface FunctionCallDeps {
  /** The tool's name. */
  name: string
  run: (...args: unknown[]) => unknown
  order: Order
  /** The code's own schema, with its refinements and transforms. The engine has checked the JSON Schema before. */
  check: StandardSchema | null
  strays: StrayErrors
}

export function createFunctionCall(deps: FunctionCallDeps): ServerTool['call'] {
  const { strays, name } = deps
  return async (call, signal) => {
    const { promise: failure, reject } = Promise.withResolvers<never>()
    /** The tool's own: what its listeners throw comes up as the tool's, whoever aborts. */
    const stop = new AbortController()
    let isOpen = true
    const scope = {
      tool: name,
      log: call.voice.log.with({ call_id: call.callId }),
      fail(error: unknown): boolean {
        if (!isOpen || signal.aborted) return false
        isOpen = false
        reject(error)
        // What is still at work for it can stop.
        strays.within(scope, () => stop.abort(error))
        return true
      },
    }
    const abort = () => strays.within(scope, () => stop.abort(signal.reason))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([strays.within(scope, () => callFunction(deps, call, stop.signal)), failure])
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
  { run, order, check, strays }: FunctionCallDeps,
  call: ToolCallRequest,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  // The function may change what it is given, and the call may be repeated.
  const given = structuredClone(call.arguments)
  const checked = check === null ? { value: given } : await check['~standard'].validate(given)
  if (checked.issues !== undefined) return failed(`The arguments are not valid. ${explainIssues(checked.issues)}`)
  const args = order === null ? [checked.value] : order.map((name) => given[name])
  signal.throwIfAborted()
  const { context, shareState } = createToolContext(call, signal, strays)
  const result = await run(...args, context)
  shareState()
  return { ...resultText(result, call.resultChars), isError: false }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })
