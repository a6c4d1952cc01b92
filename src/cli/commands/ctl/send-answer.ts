// An answer to a record of any kind. What can be answered, and with which request, is what the server says in the record's view.

import { answerBody } from '../../../client/supervision.ts'
import type { RecordView } from '../../../protocols/manage/records/schema.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { outcomeText, titleOf } from '../../show-record.ts'
import type { ShownRecord, ViewAction } from './records.ts'
import type { CtlContext } from './run-ctl.ts'

/** Throws `CliError` if the record cannot be answered so, with what it can be answered with. */
export function actionOf({ view }: ShownRecord, name: string): ViewAction {
  const found = view.actions.find((one) => one.name === name)
  if (found !== undefined) return found
  if (view.outcome !== null) throw fail(`This is over: ${outcomeText(view.outcome)}`)
  const names = view.actions.map((one) => one.name).join(', ')
  throw fail(`“${name}” is not an answer to this: ${view.label}. It takes ${names}.`, waysToAnswer(view))
}

interface Given {
  text?: string
  /** What else belongs to the answer. */
  more?: Record<string, unknown>
}

/** Says what has become of it, and about what. */
export async function sendAnswer(
  { view }: ShownRecord,
  action: ViewAction,
  given: Given,
  context: CtlContext,
): Promise<void> {
  context.say(await postAnswer(action, given, context), `${action.done} ${titleOf(view)}`)
}

/** Returns what the server says. Throws `CliError` if a text is missing, or not wanted. */
export async function postAnswer(
  action: ViewAction,
  { text = '', more = {} }: Given,
  { server }: CtlContext,
): Promise<unknown> {
  const { name, takes, request } = action
  if (text === '' && takes === 'text') throw fail(`${name} needs a text: ${action.text}.`)
  if (text !== '' && request.text === null) throw fail(`${name} takes no text.`)
  return await server.post(request.path, answerBody(action, { text, more }))
}

/** Actions that are verbs of their own. The others are words after `answer`. */
export const ownVerbs: readonly string[] = ['approve', 'edit', 'reject', 'answer', 'dismiss']

/** How a record can be answered: one command for each action. */
export const waysToAnswer = ({ id, actions }: RecordView): string[] =>
  actions.map(({ name, takes, text }) =>
    ownVerbs.includes(name)
      ? `quarterdeck ctl ${name} ${id}`
      : `quarterdeck ctl answer ${id} ${name}${takes === 'text' ? ` "${text}"` : ''}`,
  )

export const answerLines = (view: RecordView): string[] =>
  view.actions.length === 0 ? [] : ['', 'To answer:', ...waysToAnswer(view).map((line) => `  ${line}`)]

const fail = (message: string, mend: readonly string[] = []): CliError =>
  new CliError(exitCodes.usage.code, message, mend)
