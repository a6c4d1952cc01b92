// Answers to what is not a change or a call: prompts, questions of tools, waits and alerts.

import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { answerQuestion, type QuestionOptions } from './answer-question.ts'
import { allWaiting, findRecord, findSession } from './find-by-prefix.ts'
import type { CtlContext } from './run-ctl.ts'
import { titleOf } from './show-record.ts'

const decisions = ['continue', 'refine', 'stop']

export interface AnswerOptions extends QuestionOptions {
  /** The decision and its text, or the answer to a question. */
  words: string[]
}

export async function answer(id: string, { words, ...options }: AnswerOptions, context: CtlContext): Promise<void> {
  const found = await findRecord(context.server, id)
  if (found.kind === 'approval' && found.record.question)
    return await answerQuestion(found.record, words.join(' '), options, context)
  if (options.set !== undefined || options.digest !== undefined)
    throw fail('--set and --digest are for questions of tools, and this is none.')
  const [decision = '', ...rest] = words
  const text = rest.join(' ')
  if (found.kind === 'approval' || found.kind === 'alert') {
    const verb = found.kind === 'approval' ? 'approve, reject or edit' : 'nudge or dismiss'
    throw fail(`This is not a question but an ${found.kind}. The verb for it: ${verb}.`)
  }
  if (!decisions.includes(decision))
    throw fail(`${JSON.stringify(decision)} is not an answer. Write continue, refine or stop.`)
  if (decision === 'refine' && text === '') throw fail('refine needs a text that says what to do instead.')
  if (found.kind === 'prompt') {
    const more = text === '' ? {} : decision === 'stop' ? { reason: text } : { instruction: text }
    const answered = await context.server.post(`/prompts/${found.id}`, { decision, ...more })
    return context.say(answered, `Answered with ${decision}: ${titleOf(found)}`)
  }
  const body = decision === 'stop' ? { stop: true } : text === '' ? {} : { instruction: text }
  context.say(await context.server.post(`/waits/${found.id}`, body), `Answered: ${titleOf(found)}`)
}

/** Tells an agent that stands by what to do next, and lets a paused one go on. */
export async function resume(instruction: string, session: string | undefined, context: CtlContext): Promise<void> {
  const { server } = context
  const { session_id: id, status } = await findSession(server, session)
  const { items } = await allWaiting(server)
  const wait = items.find((item) => item.kind === 'wait' && item.record.session_id === id)
  const isPaused = status === 'paused'
  if (wait === undefined && !isPaused) {
    throw new CliError(
      exitCodes.failed.code,
      'The agent is neither paused nor waiting for an instruction. To tell it something: quarterdeck ctl steer',
    )
  }
  const answers: unknown[] = []
  if (isPaused) answers.push(await server.post(`/sessions/${id}/resume`))
  const text = instruction === '' ? {} : { instruction }
  if (wait !== undefined) answers.push(await server.post(`/waits/${wait.id}`, text))
  else if (instruction !== '') answers.push(await server.post(`/sessions/${id}/steer`, { text: instruction }))
  context.say(
    answers.length === 1 ? answers[0] : answers,
    isPaused ? 'The session goes on.' : 'The agent has its answer.',
  )
}

export async function nudge(text: string, session: string | undefined, context: CtlContext): Promise<void> {
  const { session_id: id } = await findSession(context.server, session)
  const nudged = await context.server.post(`/sessions/${id}/nudge`, text === '' ? {} : { message: text })
  context.say(nudged, 'Nudged.')
}

export async function dismiss(id: string, context: CtlContext): Promise<void> {
  const found = await findRecord(context.server, id)
  if (found.kind !== 'alert') throw fail(`Only alerts about silent agents are dismissed; this is a ${found.kind}.`)
  context.say(await context.server.post(`/alerts/${found.id}/dismiss`), 'Dismissed. The next silence counts from here.')
}

const fail = (message: string): CliError => new CliError(exitCodes.usage.code, message)
