import { isRecord } from '../../../domain/is-record.ts'
import { visibleJson, visibleText } from '../../../domain/visible-text.ts'
import { shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import type { Prompt } from '../../terminal/terminal-prompt.ts'
import { terminalLine, terminalText } from '../../terminal/terminal-text.ts'
import { type ApprovalAnswer, fields, type PendingApproval } from './approval.ts'

/** Begins a line of its own with this label, and with this text to change. */
export type OpenPrompt = (label: string, draft?: string) => Prompt

/** What is asked for, in lines: the call first, then what it is called with. */
export function callLines(approval: PendingApproval): string[] {
  const risk = approval.risk === '' ? '' : ` (risk ${terminalLine(approval.risk, 20)})`
  if (approval.tool === '') return [`The agent asks${risk}:`, ...indented(terminalText(approval.message))]
  const head = `The agent asks to call ${terminalLine(visibleText(approval.tool), 80)}${risk}:`
  return [head, ...indented(shownArguments(approval.arguments))]
}

/** As `shownArguments` says it. */
const LEFT_OUT = /… (?:\(\d+ more characters\)|and \d+ more$)|\[masked\]/

const indented = (text: string): string[] => text.split('\n').map((line) => `  ${line}`)

/** Asks a person about one call. Null: they have not answered (Ctrl-C, Ctrl-D), or the signal took the question away. Nothing but a clear yes is a yes. */
export async function askAboutCall(
  approval: PendingApproval,
  openPrompt: OpenPrompt,
  io: Io,
  signal: AbortSignal,
): Promise<ApprovalAnswer | null> {
  const { id, digest } = approval
  const style = styleFor(io.stdout, io.env)
  const [head = '', ...rest] = callLines(approval)
  io.stdout.write(`${[style.yellow(head), ...rest].join('\n')}\n`)
  if (rest.some((line) => LEFT_OUT.test(line))) io.stdout.write('Not all of it is shown: e shows the whole.\n')

  const canRemember = approval.risk !== 'critical'
  const session = canRemember ? ', s(ession): yes, and to the same call here for 15 minutes' : ''
  io.stdout.write(`${style.dim(`y(es), n(o), e(dit the arguments)${session}`)}\n`)
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
      case 's':
      case 'session':
        if (canRemember) return { id, digest, approved: true, remember: true }
        io.stdout.write('What is critical is asked about every time.\n')
        break
      default:
        io.stdout.write(`Write y, n, e${canRemember ? ' or s' : ''}; Ctrl-C leaves it unanswered.\n`)
    }
  }
}

async function askForArguments(
  approval: PendingApproval,
  openPrompt: OpenPrompt,
  io: Io,
  signal: AbortSignal,
): Promise<Record<string, unknown> | 'unchanged' | 'left'> {
  let draft = jsonLine(approval.arguments)
  for (;;) {
    const line = await lineFrom(openPrompt('Arguments as JSON: ', draft), signal)
    if (line === null) return 'left'
    if (line.trim() === '') return 'unchanged'
    const value = parse(line)
    if (isRecord(value)) return fields(value)
    io.stdout.write('That is no JSON object. Write one in a line; an empty line goes back.\n')
    draft = line
  }
}

async function lineFrom(prompt: Prompt, signal: AbortSignal): Promise<string | null> {
  const asked = await prompt.ask(signal)
  return asked.type === 'line' ? asked.line : null
}

/** The same value in one line of characters that can be seen. */
const jsonLine = (value: unknown): string => visibleJson(JSON.stringify(value))

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
