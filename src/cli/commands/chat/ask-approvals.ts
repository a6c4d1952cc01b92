import type { RecordView } from '../../../client/client.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { visibleJson } from '../../../domain/text/visible-text.ts'
import { emptyAnswer } from '../../../supervision/approvals/question-form.ts'
import { shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import { bodyLines } from '../../show-record.ts'
import type { Io } from '../../terminal/io.ts'
import { type Style, styleFor } from '../../terminal/style.ts'
import type { Prompt } from '../../terminal/terminal-prompt.ts'
import { drawn, exactText, exactValue, terminalLine } from '../../terminal/terminal-text.ts'
import type { ChatClient } from './chat-client.ts'
import { type ApprovalAnswer, fields, type PendingApproval } from './chat-event.ts'

/**
 * Gets answers to the pending approvals of a conversation. No answers leave everything pending. The signal aborts when somebody else has
 * answered.
 */
export type AskApprovals = (
  approvals: readonly PendingApproval[],
  client: Pick<ChatClient, 'mayAnswer' | 'view'>,
  signal: AbortSignal,
) => Promise<ApprovalAnswer[]>

/** Lines that say how to answer an approval that cannot be answered here. */
export type HowToAnswer = (approvalId: string) => string[]

/** For a pipe, where nobody can be asked: prints to stderr what waits and how to answer it. */
export function createApprovalNotice(howToAnswer: HowToAnswer, io: Io): AskApprovals {
  return async (approvals, client, signal) => {
    for (const approval of approvals) tell(approval, await client.view(approval.id, signal), howToAnswer, io)
    return []
  }
}

interface ApprovalQuestionDeps {
  openPrompt: OpenPrompt
  /** Asks for the operator's token if it is missing. True if there is one now. */
  askToken: (signal: AbortSignal) => Promise<boolean>
  howToAnswer: HowToAnswer
  /** Lines that say how to answer what the person left open. */
  again: HowToAnswer
}

/** Asks the person at the terminal about one call after the other. */
export function createApprovalQuestions(
  { openPrompt, askToken, howToAnswer, again }: ApprovalQuestionDeps,
  io: Io,
): AskApprovals {
  return async (approvals, client, signal) => {
    const answerable = () => approvals.filter((approval) => client.mayAnswer(approval))
    const mine = answerable().length < approvals.length && (await askToken(signal)) ? approvals : answerable()
    if (signal.aborted) return []
    for (const approval of approvals) {
      if (!mine.includes(approval)) tell(approval, await client.view(approval.id, signal), howToAnswer, io)
    }
    const answers: ApprovalAnswer[] = []
    for (const approval of mine) {
      const answer = await askAboutCall(approval, await client.view(approval.id, signal), openPrompt, io, signal)
      if (signal.aborted) return []
      if (answer === null) {
        // A person who stops wants nothing to happen, so the earlier answers are dropped too.
        const ids = mine.map(({ id }) => id)
        const what = ids.length === 1 ? 'It stays pending: approval' : 'They stay pending, unanswered: approvals'
        io.stdout.write(`\n${[`${what} ${ids.join(', ')}`, ...new Set(ids.flatMap(again))].join('\n  ')}\n`)
        return []
      }
      answers.push(answer)
    }
    return answers
  }
}

function tell(approval: PendingApproval, view: RecordView | null, howToAnswer: HowToAnswer, io: Io): void {
  const style = styleFor(io.stderr, io.env)
  const [head = '', ...rest] = callLines(approval, view, style)
  const advice = [`Approval ${approval.id}`, ...howToAnswer(approval.id)].map((line) => `  ${line}`)
  io.stderr.write(`${[style.yellow(head), ...rest, ...advice].join('\n')}\n`)
}

/** Opens a prompt with this label, and with this text to edit. */
export type OpenPrompt = (label: string, draft?: string) => Prompt

/** What is asked, in lines. Without a view only what the run said. */
export function callLines(approval: PendingApproval, view: RecordView | null, style: Style): string[] {
  if (view === null) return interruptLines(approval)
  const { agent, asks, title, risk, warnings } = view
  const level = risk === null ? '' : ` (risk ${risk.level}${risk.why === null ? '' : `: ${risk.why}`})`
  return [
    terminalLine(`${agent} ${asks}: ${title}${level}`, 400),
    ...warnings.flatMap((warning) => indented(exactText(warning))),
    ...bodyLines(view, style, { isShort: true }),
  ]
}

function interruptLines({ tool, risk, message, answerSchema, arguments: input }: PendingApproval): string[] {
  const level = risk === '' ? '' : ` (risk ${terminalLine(risk, 20)})`
  const name = terminalLine(exactValue(tool), 80)
  if (tool === '' || answerSchema !== null) {
    return [tool === '' ? `The agent asks${level}:` : `${name} asks you:`, ...indented(exactText(message))]
  }
  return [`The agent asks to call ${name}${level}:`, ...indented(drawn(shownArguments(input)))]
}

/** How `shownArguments` marks what it left out. */
const LEFT_OUT = /… (?:\(\d+ more characters\)|and \d+ more$)|\[masked\]/

const indented = (text: string): string[] => text.split('\n').map((line) => `  ${line}`)

/** Asks a person about one call. Null: no answer (Ctrl-C, Ctrl-D), or the signal withdrew the question. Only a clear yes approves. */
export async function askAboutCall(
  approval: PendingApproval,
  view: RecordView | null,
  openPrompt: OpenPrompt,
  io: Io,
  signal: AbortSignal,
): Promise<ApprovalAnswer | null> {
  const { id, digest } = approval
  const style = styleFor(io.stdout, io.env)
  const [head = '', ...rest] = callLines(approval, view, style)
  io.stdout.write(`${[style.yellow(head), ...rest].join('\n')}\n`)
  if (rest.some((line) => LEFT_OUT.test(line))) io.stdout.write('Some of it is left out. e shows everything.\n')

  if (approval.answerSchema !== null) return askQuestion(approval, approval.answerSchema, openPrompt, io, signal)

  const canRemember = approval.risk !== 'critical'
  const session = canRemember ? ', s(ession): yes, also to the same call in this session for 15 minutes' : ''
  io.stdout.write(`${style.dim(`y(es), n(o), e(dit the arguments), a(nswer in its place)${session}`)}\n`)
  for (;;) {
    const word = await lineFrom(openPrompt('Allow it? '), signal)
    switch (word?.trim().toLowerCase()) {
      case undefined:
        return null
      case 'y':
      case 'yes':
        return { id, digest, approved: true }
      case 'n':
      case 'no': {
        const reason = await lineFrom(openPrompt('Why not? (the agent is told) '), signal)
        if (reason === null) return null
        return { id, digest, approved: false, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
      }
      case 'e':
      case 'edit': {
        const edited = await askForArguments(approval, openPrompt, io, signal)
        if (edited === 'left') return null
        if (edited !== 'unchanged') return { id, digest, approved: true, arguments: edited }
        break
      }
      case 'a':
      case 'answer': {
        const result = await lineFrom(openPrompt('The result in its place: '), signal)
        if (result === null) return null
        if (result.trim() !== '') return { id, digest, approved: true, result }
        break
      }
      case 's':
      case 'session':
        if (canRemember) return { id, digest, approved: true, remember: true }
        io.stdout.write('Critical calls are asked about every time.\n')
        break
      default:
        io.stdout.write(`Write y, n, e${canRemember ? ', a or s' : ' or a'}; Ctrl-C leaves it unanswered.\n`)
    }
  }
}

/** Only texts may be written as they are. Everything else is JSON, with the names of its fields to begin with. */
async function askQuestion(
  { id, digest }: PendingApproval,
  schema: Record<string, unknown>,
  openPrompt: OpenPrompt,
  io: Io,
  signal: AbortSignal,
): Promise<ApprovalAnswer | null> {
  io.stdout.write(`${styleFor(io.stdout, io.env).dim('An empty line refuses to answer.')}\n`)
  const isText = schema.type === 'string'
  const ask = (draft?: string) =>
    lineFrom(openPrompt(isText ? 'Your answer: ' : 'Your answer as JSON: ', draft), signal)
  for (let line = await ask(isText ? undefined : jsonLine(emptyAnswer(schema))); ; line = await ask(line)) {
    if (line === null) return null
    if (line.trim() === '') return { id, digest, approved: false }
    const result = isText ? line : jsonIn(line)
    if (result !== undefined) return { id, digest, approved: true, result }
    io.stdout.write('That is not JSON. Write it on a single line.\n')
  }
}

async function askForArguments(
  approval: PendingApproval,
  openPrompt: OpenPrompt,
  io: Io,
  signal: AbortSignal,
): Promise<Record<string, unknown> | 'unchanged' | 'left'> {
  const ask = (draft: string) => lineFrom(openPrompt('Arguments as JSON: ', draft), signal)
  for (let line = await ask(jsonLine(approval.arguments)); ; line = await ask(line)) {
    if (line === null) return 'left'
    if (line.trim() === '') return 'unchanged'
    const value = jsonIn(line)
    if (isRecord(value)) return fields(value)
    io.stdout.write('That is not a JSON object. Write one on a single line; an empty line goes back.\n')
  }
}

async function lineFrom(prompt: Prompt, signal: AbortSignal): Promise<string | null> {
  const asked = await prompt.ask(signal)
  return asked.type === 'line' ? asked.line : null
}

/** The value on one line, with invisible characters written out. */
const jsonLine = (value: unknown): string => visibleJson(JSON.stringify(value))
