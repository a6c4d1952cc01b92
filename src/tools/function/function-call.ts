// One call of a user's function: arguments in, text out.

import { NotJson } from '../../domain/bounded-json.ts'
import type { ServerTool, ToolOutcome } from '../tool.ts'
import { resultText } from './result-text.ts'
import type { Order } from './source/read-parameters.ts'
import { explainIssues, type StandardSchema } from './standard-schema.ts'
import { createToolContext } from './tool-context.ts'
import { isToolError } from './tool-error.ts'

export interface FunctionCallDeps {
  run: (...args: unknown[]) => unknown
  order: Order
  /** The code's own schema, with its refinements and transforms. The engine has checked the JSON Schema before. */
  check: StandardSchema | null
}

export function createFunctionCall({ run, order, check }: FunctionCallDeps): ServerTool['call'] {
  return async (call, signal) => {
    // The function may change what it is given, and the call may be repeated.
    const given = structuredClone(call.arguments)
    const checked = check === null ? { value: given } : await check['~standard'].validate(given)
    if (checked.issues !== undefined) return failed(`The arguments are not valid. ${explainIssues(checked.issues)}`)
    const args = order === null ? [checked.value] : order.map((name) => given[name])
    signal.throwIfAborted()
    try {
      const { context, shareState } = createToolContext(call, signal)
      const result = await run(...args, context)
      shareState()
      return { ...resultText(result, call.resultChars), isError: false }
    } catch (error) {
      if (isToolError(error)) return failed(error.message || 'The tool failed.')
      if (!(error instanceof NotJson)) throw error
      call.voice.log.error('a tool gave back what cannot be sent', { call_id: call.callId, problem: error.message })
      return failed(`The tool has done its work, but its result cannot be sent: ${error.message}.`)
    }
  }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })
