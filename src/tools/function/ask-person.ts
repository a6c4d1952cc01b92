// `context.ask`: a tool asks a person in the middle of its work. The first time, the call ends here and the run is suspended, so that
// nothing is held. With the answer the tool's function is called again from its start, and each `ask` that was answered before gives
// its answer at once.

import type { GivenAnswer, ToolQuestion } from '../../domain/agent/question.ts'
import type { JsonSchema } from '../../domain/agent/tool-settings.ts'
import { canonicalJson } from '../../json/digest.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import { readCodeSchema } from './read-code-schema.ts'
import { explainIssues, type OutputOf, type StandardSchema } from './standard-schema.ts'
import { AskError } from './tool-error.ts'

/** Asks a person, and resolves with their answer. Throws `AskError` if they refuse, or if nobody answers in time. */
export interface Ask {
  <Schema extends StandardSchema>(question: { message: string; schema: Schema }): Promise<OutputOf<Schema>>
  (question: { message: string; schema: JsonSchema & { '~standard'?: never } }): Promise<unknown>
  /** Without a schema, the answer is a text. */
  (question: { message: string; schema?: undefined }): Promise<string>
}

const MAX_MESSAGE = 4_000
const MAX_SCHEMA = 20_000
const ANY_TEXT: JsonSchema = { type: 'string', minLength: 1 }

interface AskDeps {
  answers: readonly GivenAnswer[]
  /** Ends the call with this question. The function that asked never goes on. */
  suspend(question: ToolQuestion): void
  /** Ends the call with an error. */
  fail(message: string): void
}

export function createAsk({ answers, suspend, fail }: AskDeps): Ask {
  let count = 0
  // A promise that never settles: no code behind the question may run before there is an answer, not even a `catch`.
  const never = (): Promise<never> => new Promise(() => {})

  return async (asked: { message: string; schema?: unknown }) => {
    const index = count
    count += 1
    const { question, check } = questionOf(asked)
    const given = answers[index]
    if (given === undefined) {
      suspend(question)
      return never()
    }
    if (!isSame(given, question)) {
      fail(
        `The tool asked something else than before at its question ${index + 1}, so the answer does not fit and the call was ended. What it did before it asked stays done.`,
      )
      return never()
    }
    // The check of the schema has given it the type that the caller asked for.
    return (await answerIn(given, check)) as never
  }
}

const isSame = (given: ToolQuestion, now: ToolQuestion): boolean =>
  canonicalJson([given.message, given.schema]) === canonicalJson([now.message, now.schema])

function questionOf({ message, schema }: { message: string; schema?: unknown }): {
  question: ToolQuestion
  check: StandardSchema | null
} {
  if (typeof message !== 'string' || message.trim() === '' || message.length > MAX_MESSAGE) {
    throw new TypeError(`context.ask needs a message of 1 to ${MAX_MESSAGE} characters.`)
  }
  if (schema === undefined) return { question: { message, schema: ANY_TEXT }, check: null }
  const read = readCodeSchema(schema, 'input')
  if (read.json === null) throw new TypeError(`The schema of context.ask cannot be used: ${read.problem}`)
  if (JSON.stringify(read.json).length > MAX_SCHEMA) {
    throw new TypeError(`The schema of context.ask has more than ${MAX_SCHEMA} characters as JSON.`)
  }
  createJsonCheck(read.json)
  return { question: { message, schema: read.json }, check: read.check }
}

async function answerIn({ answer }: GivenAnswer, check: StandardSchema | null): Promise<unknown> {
  switch (answer.type) {
    case 'answered': {
      const checked = check === null ? { value: answer.value } : await check['~standard'].validate(answer.value)
      if (checked.issues === undefined) return checked.value
      throw new AskError('invalid', `The answer of the person does not fit: ${explainIssues(checked.issues)}`)
    }
    case 'rejected': {
      const why = answer.reason === null || answer.reason === '' ? '' : ` Reason: ${answer.reason}`
      throw new AskError('rejected', `A person refused to answer the question of this tool.${why}`)
    }
    case 'expired':
      throw new AskError('expired', 'Nobody answered the question of this tool in time.')
  }
}
