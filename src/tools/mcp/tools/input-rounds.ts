// A server of the protocol of 2026 does not ask during a call. It ends the call with the questions it has (`input_required`) and wants
// the call again with the answers. So such a call is suspended like any other, and nothing is held. Each question is asked for
// itself; its state says what else the server wants to know.

import type { ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client'
import type { GivenAnswer, ToolQuestion } from '../../../domain/question.ts'
import { elicitResult, questionOf } from './elicitation.ts'

/** What the server wants to know before the call can go on. */
interface Round {
  /** 1, 2, … The server may ask again after it has got its answers. */
  number: number
  /** The server's own, given back as it is. */
  requestState?: string
  questions: { key: string; message: string; schema: ToolQuestion['schema'] }[]
}

export interface InputParams {
  inputResponses?: Record<string, ElicitResult>
  requestState?: string
}

const MAX_QUESTIONS = 10
const MAX_STATE = 50_000

/** What to do first with a call that was made before: ask the next question of its round, or send the answers. */
export function afterAnswers(answers: readonly GivenAnswer[]): { ask: ToolQuestion } | { send: InputParams } {
  const last = answers.at(-1)
  const round: Round | null = last?.state === undefined ? null : JSON.parse(last.state)
  if (round === null) return { send: {} }
  const given = answers.filter(({ state }) => state === last?.state)
  const next = round.questions[given.length]
  if (next !== undefined) return { ask: asked(round, next) }
  const responses = given.map(({ answer }, i) => [round.questions[i]?.key ?? '', elicitResult(answer)] as const)
  return {
    send: {
      inputResponses: Object.fromEntries(responses),
      ...(round.requestState === undefined ? {} : { requestState: round.requestState }),
    },
  }
}

/** The server's questions. A sentence if nobody can be asked them. */
export function nextRound(
  server: string,
  { inputRequests = {}, requestState }: InputRequiredResult,
  answers: readonly GivenAnswer[],
): { ask: ToolQuestion } | { send: InputParams } | string {
  const requests = Object.entries(inputRequests)
  if (requests.length > MAX_QUESTIONS || (requestState ?? '').length > MAX_STATE)
    return 'asks too much in the middle of the call.'
  const questions: Round['questions'] = []
  for (const [key, { method, params }] of requests) {
    if (method !== 'elicitation/create')
      return 'asks for something other than an answer of a person in the middle of the call, which is not supported.'
    const question = questionOf(server, params as ElicitRequest['params'])
    if (question === null) return 'asks something in the middle of the call that nobody can be asked here.'
    questions.push({ key, message: question.message, schema: question.schema })
  }
  const before = answers.at(-1)?.state
  const number = 1 + (before === undefined ? 0 : (JSON.parse(before) as Round).number)
  const round: Round = { number, ...(requestState === undefined ? {} : { requestState }), questions }
  const [first] = questions
  return first === undefined
    ? { send: requestState === undefined ? {} : { requestState } }
    : { ask: asked(round, first) }
}

const asked = (round: Round, { message, schema }: Round['questions'][number]): ToolQuestion => ({
  message,
  schema,
  state: JSON.stringify(round),
})
