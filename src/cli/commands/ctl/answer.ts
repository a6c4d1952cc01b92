// The verbs that answer what an agent asks or waits for. `decide.ts` has those for approvals.

import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { answerQuestion, type QuestionOptions } from './answer-question.ts'
import { allWaiting, findRecord, findSession } from './find-by-prefix.ts'
import type { CtlContext } from './run-ctl.ts'
import { actionOf, ownVerbs, postAnswer, sendAnswer, waysToAnswer } from './send-answer.ts'

export interface AnswerOptions extends QuestionOptions {
  /** The name of an action and its text, or the answer to a question of a tool. */
  words: string[]
}

export async function answer(id: string, { words, ...options }: AnswerOptions, context: CtlContext): Promise<void> {
  const found = await findRecord(context.server, id)
  if (found.question) return await answerQuestion(found, words.join(' '), options, context)
  if (options.set !== undefined || options.digest !== undefined)
    throw fail('--set and --digest are for questions of tools, and this is none.')
  const [name = '', ...rest] = words
  const action = actionOf(found, name)
  if (ownVerbs.includes(name)) throw fail(`This has a verb of its own: ${name}.`, waysToAnswer(found.view))
  await sendAnswer(found, action, { text: rest.join(' ') }, context)
}

/** Tells an agent that stands by what to do next, and lets a paused one go on. */
export async function resume(instruction: string, session: string | undefined, context: CtlContext): Promise<void> {
  const { server } = context
  const { session_id: id, status } = await findSession(server, session)
  const { items } = await allWaiting(server)
  const action = items
    .filter(({ view }) => view.session.id === id)
    .flatMap(({ view }) => view.actions)
    .find(({ name }) => name === 'resume')
  const isPaused = status === 'paused'
  if (action === undefined && !isPaused) {
    throw new CliError(
      exitCodes.failed.code,
      'The agent is neither paused nor waiting for an instruction. To tell it something: quarterdeck ctl steer',
    )
  }
  const answers: unknown[] = []
  if (isPaused) answers.push(await server.post(`/sessions/${id}/resume`))
  if (action !== undefined) answers.push(await postAnswer(action, { text: instruction }, context))
  else if (instruction !== '') answers.push(await server.post(`/sessions/${id}/steer`, { text: instruction }))
  context.say(
    answers.length === 1 ? answers[0] : answers,
    isPaused || action === undefined ? 'The session goes on.' : action.done,
  )
}

export async function nudge(text: string, session: string | undefined, context: CtlContext): Promise<void> {
  const { session_id: id } = await findSession(context.server, session)
  const nudged = await context.server.post(`/sessions/${id}/nudge`, text === '' ? {} : { message: text })
  context.say(nudged, 'Nudged.')
}

export async function dismiss(id: string, context: CtlContext): Promise<void> {
  const found = await findRecord(context.server, id)
  await sendAnswer(found, actionOf(found, 'dismiss'), {}, context)
}

const fail = (message: string, mend: readonly string[] = []): CliError =>
  new CliError(exitCodes.usage.code, message, mend)
