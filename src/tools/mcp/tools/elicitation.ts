// Questions that an MCP server asks during a call (elicitation), as questions to a person.

import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import type { QuestionAnswer, ToolQuestion } from '../../../domain/agent/question.ts'
import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { createJsonCheck } from '../../../json/json-schema.ts'

const MAX_MESSAGE = 3_900
const MAX_SCHEMA = 20_000

/** Null: nobody can be asked this. It may want a web page to be opened, or its form may be too large or broken. */
export function questionOf(server: string, params: ElicitRequest['params']): ToolQuestion | null {
  if (!('requestedSchema' in params)) return null
  const schema: JsonSchema = JSON.parse(JSON.stringify(params.requestedSchema))
  if (JSON.stringify(schema).length > MAX_SCHEMA || !isUsable(schema)) return null
  const text = params.message.length > MAX_MESSAGE ? `${params.message.slice(0, MAX_MESSAGE)}…` : params.message
  // The person must know that these are not our words.
  return { message: `The MCP server ${JSON.stringify(server)} asks: ${text.toWellFormed()}`, schema }
}

function isUsable(schema: JsonSchema): boolean {
  try {
    createJsonCheck(schema, { foreignPatterns: true })
    return true
  } catch (error) {
    if (error instanceof ServerError) return false
    throw error
  }
}

export function elicitResult(answer: QuestionAnswer): ElicitResult {
  switch (answer.type) {
    case 'answered':
      return { action: 'accept', content: isRecord(answer.value) ? (answer.value as ElicitResult['content']) : {} }
    case 'rejected':
      return { action: 'decline' }
    case 'expired':
      return { action: 'cancel' }
  }
}
