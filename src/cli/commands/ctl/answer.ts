// The verbs that answer what an agent asks or waits for. `decide.ts` has those for approvals.

import { answerBody } from '../../../client/supervision.ts'
import { GroupDecidedSchema } from '../../../protocols/manage/approvals/schema.ts'
import type { RecordView } from '../../../protocols/manage/records/schema.ts'
import { scopeWords } from '../../../supervision/remember/match-label.ts'
import { failure, usageError } from '../../cli-error.ts'
import { mustBeSeen, outcomeText, recordLines, titleOf } from '../../show-record.ts'
import { styleFor } from '../../terminal/style.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { answerQuestion, type QuestionFlags } from './answer-question.ts'
import type { CtlContext } from './ctl-server.ts'
import { allWaiting, findRecord, findSession, type ShownRecord, understood, type ViewAction } from './records.ts'

/** `words`: the name of an action and its text, or the answer to a question of a tool. */
export async function answer(context: CtlContext, id: string, words: string[], options: QuestionFlags): Promise<void> {
  const found = await findRecord(context.server, id)
  if (found.question) return await answerQuestion(found, words.join(' '), options, context)
  if (options.set !== undefined || options.digest !== undefined)
    throw usageError('--set and --digest are for questions of tools, and this is none.')
  const [name = '', ...rest] = words
  const action = actionOf(found, name)
  if (ownVerbs.includes(name)) throw usageError(`This has a verb of its own: ${name}.`, waysToAnswer(found.view))
  await sendAnswer(found, action, { text: rest.join(' ') }, context)
}

/** Tells an agent that stands by what to do next, and lets a paused one go on. */
export async function resume(context: CtlContext, words: string[], { session }: { session?: string }): Promise<void> {
  const { server } = context
  const instruction = words.join(' ')
  const { session_id: id, status } = await findSession(server, session)
  const { items } = await allWaiting(server)
  const action = items
    .filter(({ view }) => view.session.id === id)
    .flatMap(({ view }) => view.actions)
    .find(({ name }) => name === 'resume')
  const isPaused = status === 'paused'
  if (action === undefined && !isPaused) {
    throw failure(
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

export async function dismiss(context: CtlContext, id: string): Promise<void> {
  const found = await findRecord(context.server, id)
  await sendAnswer(found, actionOf(found, 'dismiss'), {}, context)
}

interface ApproveFlags extends RememberFlags {
  /** The digest of what was shown, by a program that showed it. */
  digest?: string
  force?: boolean
  reason?: string
}

export async function approve(context: CtlContext, id: string, flags: ApproveFlags): Promise<void> {
  const { digest, force, reason } = flags
  const found = await findRecord(context.server, id)
  const action = actionOf(found, 'approve')
  const { more, words } = remembered(found, flags)
  if (digest !== undefined) checkDigest(digest, found)
  else if (showBefore(found, context)) await confirm(`${words}${action.confirm.title}`, context.io)
  await sendAnswer(found, action, { more: { force, reason, ...more } }, context)
}

type RejectFlags = RememberFlags & { reason?: string }

export async function reject(context: CtlContext, id: string, flags: RejectFlags): Promise<void> {
  const found = await findRecord(context.server, id)
  const given = { text: flags.reason ?? '', more: remembered(found, flags).more }
  await sendAnswer(found, actionOf(found, 'reject'), given, context)
}

interface RememberFlags {
  /** A scope. */
  remember?: string
  /** Which work: the number of an offer, or its type. */
  match?: string
}

/** What an answer remembers, out of what the server offers. Throws `CliError` with the offers. */
function remembered({ view }: ShownRecord, { remember: wanted, match }: RememberFlags) {
  if (wanted === undefined && match !== undefined)
    throw usageError('--match needs --remember, which says how far it reaches.')
  if (wanted === undefined) return { more: {}, words: '' }
  const { scopes, matches } = view.remember ?? { scopes: [], matches: [] }
  const scope = scopes.find((one) => one === wanted)
  const offer =
    match === undefined ? matches[0] : matches.find((one, i) => match === `${i + 1}` || match === one.match.type)
  if (scope === undefined || (match !== undefined && offer === undefined)) {
    if (scopes.length === 0) throw usageError('Nothing can be remembered with this answer.')
    throw usageError(
      `This can be remembered with --remember ${scopes.join(', ')}${matches.length === 0 ? '.' : ', and --match:'}`,
      matches.map(({ label, match: { type } }, i) => `${i + 1} or ${type}: ${terminalLine(label, 200)}`),
    )
  }
  const grant = offer === undefined ? {} : { grant: { match: offer.match } }
  const words = `To be remembered ${scopeWords[scope]}: ${terminalLine(offer?.label ?? 'the same call', 500)}. `
  return { more: { remember: scope, ...grant }, words }
}

/** Decides alike approvals of low risk together. Each is bound to what was shown of it. */
export async function decideTogether(
  row: readonly ShownRecord[],
  { name, done, text }: { name: string; done: string; text: string },
  { server, say }: CtlContext,
): Promise<void> {
  const items = row.map(({ view, digest }) => ({ id: view.id, digest }))
  const sent = await server.post('/approvals', { decision: name, items, ...(text === '' ? {} : { reason: text }) })
  const failed = understood(GroupDecidedSchema, sent).items.filter(({ error }) => error !== undefined)
  const count = failed.length === 0 ? `${row.length}` : `${row.length - failed.length} of ${row.length}`
  say(sent, `${done} ${count}: ${row[0] === undefined ? '' : titleOf(row[0].view)}`)
}

export function checkDigest(digest: string, record: ShownRecord): void {
  if (digest === record.digest) return
  throw failure('It has changed: its digest is another one. Look at it again, then decide.')
}

/**
 * Nobody decides about something risky that was not on their screen. Returns whether it is there now: a person can be asked. Throws
 * `CliError`.
 */
export function showBefore({ view }: ShownRecord, { io, json }: Pick<CtlContext, 'io' | 'json'>): boolean {
  const isSeen = hasTerminal(io) && !json
  if (!isSeen && mustBeSeen(view)) {
    throw failure(`Its risk is ${view.risk?.level}, so it has to be looked at first: quarterdeck ctl show ${view.id}`, [
      'A program that has shown it to a person says so with --digest <digest>.',
    ])
  }
  if (isSeen) io.stdout.write(`${recordLines(view, styleFor(io.stdout, io.env)).join('\n')}\n\n`)
  return isSeen
}

// An answer to a record of any kind. What can be answered, and with which request, is what the server says in the record's view.

/** Throws `CliError` if the record cannot be answered so, with what it can be answered with. */
export function actionOf({ view }: ShownRecord, name: string): ViewAction {
  const found = view.actions.find((one) => one.name === name)
  if (found !== undefined) return found
  if (view.outcome !== null) throw usageError(`This is over: ${outcomeText(view.outcome)}`)
  const names = view.actions.map((one) => one.name).join(', ')
  throw usageError(`“${name}” is not an answer to this: ${view.label}. It takes ${names}.`, waysToAnswer(view))
}

export interface Given {
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
async function postAnswer(
  action: ViewAction,
  { text = '', more = {} }: Given,
  { server }: CtlContext,
): Promise<unknown> {
  const { name, takes, request } = action
  if (text === '' && takes === 'text') throw usageError(`${name} needs a text: ${action.text}.`)
  if (text !== '' && request.text === null) throw usageError(`${name} takes no text.`)
  return await server.post(request.path, answerBody(action, { text, more }))
}

/** Actions that are verbs of their own. The others are words after `answer`. */
const ownVerbs: readonly string[] = ['approve', 'edit', 'reject', 'answer', 'dismiss']

/** How a record can be answered: one command for each action. */
const waysToAnswer = ({ id, actions }: RecordView): string[] =>
  actions.map(({ name, takes, text }) =>
    ownVerbs.includes(name)
      ? `quarterdeck ctl ${name} ${id}`
      : `quarterdeck ctl answer ${id} ${name}${takes === 'text' ? ` "${text}"` : ''}`,
  )

export const answerLines = (view: RecordView): string[] =>
  view.actions.length === 0 ? [] : ['', 'To answer:', ...waysToAnswer(view).map((line) => `  ${line}`)]
