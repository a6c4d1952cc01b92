// Slash commands: who may give them, and their answers as messages that only this person sees.
//
// Slack has no files that only one person sees. So what is for them alone comes in pieces, as code. Files of a workspace go to its room,
// whose members see the diffs of its agents anyway.

import type { Caller } from '../../../domain/supervision/decision.ts'
import type { Answer, AnswerPart } from '../../commands/answer.ts'
import type { CommandContext } from '../../commands/command-services.ts'
import { isVerb } from '../../commands/verbs.ts'
import {
  bold,
  code,
  line,
  plain,
  preformatted,
  type RichPart,
  rich,
  type SlackBlock,
  type SlackMessage,
} from '../cards/blocks.ts'
import { ACTION_ID_PREFIX, buttonRow } from '../cards/card-actions.ts'
import { shownName, sizeOf } from '../cards/shown-text.ts'
import type { AnswerContext } from './answer-context.ts'
import { says, whisper } from './answer-texts.ts'
import type { SlackAnswersDeps } from './create-slack-answers.ts'
import { type Press, plainText, type Sender, type Typed } from './payloads.ts'

/** Runs one command. Never rejects. */
export type RunCommand = (by: Caller, context: CommandContext, line: string) => Promise<Answer>

/** Of a button whose record is a command. */
export const COMMAND_ACTION = 'command'
const CONFIRM_MS = 15 * 60_000
/** Slack takes the first answer within three seconds. */
const SLOW_MS = 2_000
/** Slack takes so many answers to one command. */
const MOST_MESSAGES = 5
const MOST_SIZE = 9_000
const MOST_PIECE = 2_800
const MOST_PARTS = 100

interface TakeCommandDeps extends AnswerContext, Pick<SlackAnswersDeps, 'runCommand' | 'noteRefused'> {
  nameOf: (user: string) => string | null
}

export function createTakeCommand(deps: TakeCommandDeps) {
  const { api, buttons, guard, clock, logger, runCommand, nameOf, noteRefused } = deps
  /** Null: the command is too long for a button, so it has to be typed. */
  function confirmValue({ room, user }: Sender, command: string): string | null {
    const expiresAt = clock.now() + CONFIRM_MS
    try {
      // The command itself is what the button is about. It says what the person was shown.
      return buttons.value({ room, recordId: command, action: COMMAND_ACTION, user, expiresAt })
    } catch (error) {
      if (error instanceof RangeError) return null
      throw error
    }
  }

  async function run(by: Caller, from: Sender, responseUrl: string, command: string, replace: boolean): Promise<void> {
    let used = 0
    const respond = async (message: SlackMessage): Promise<void> => {
      used += 1
      await api.respond(responseUrl, message, { replace: replace && used === 1 })
    }
    let saying: Promise<void> = Promise.resolve()
    const cancelTimer = clock.after(SLOW_MS, () => {
      saying = respond(says('Working on it …')).catch((error: unknown) => {
        logger.warn('a command in Slack could not be answered', { room: from.room, error })
      })
    })
    try {
      const answer = await runCommand(by, { channelId: from.room }, command)
      cancelTimer()
      if (answer.error === 'forbidden' || answer.error === 'passkey_required') {
        const { user, credential } = by
        const tried = { what: 'command', tried: verbOf(command), why: answer.error }
        await noteRefused({ by: user, via: 'slack', credential, ...tried, details: { room: from.room } })
      }
      await saying
      const shown = await shared(from, answer)
      const confirm = answer.confirm === undefined ? null : confirmButton(answer.confirm, from)
      for (const message of messagesOf(shown, confirm, MOST_MESSAGES - used)) await respond(message)
    } finally {
      cancelTimer()
    }
  }

  /** Puts a file for the room there, where Slack colours it by its type. If Slack does not take it, the person gets it in pieces. */
  async function shared({ room }: Sender, answer: Answer): Promise<Answer> {
    const { file, ...rest } = answer
    if (file === undefined || file.to !== 'room') return answer
    try {
      await api.upload(room, null, file)
      return { ...rest, parts: [...rest.parts, { kind: 'text', text: `${file.name} is in this channel as a file.` }] }
    } catch (error) {
      logger.warn('a file did not get to Slack', { room, error })
      return answer
    }
  }

  function confirmButton({ label, command }: NonNullable<Answer['confirm']>, from: Sender): SlackBlock[] {
    const value = confirmValue(from, command)
    if (value === null) return rich(line('To go on, type: '), preformatted(`/quarterdeck ${command}`))
    const text = { type: 'plain_text', text: label.slice(0, 75), emoji: false } as const
    const action_id = `${ACTION_ID_PREFIX}${COMMAND_ACTION}`
    return [buttonRow({ type: 'button', action_id, text, value, style: 'danger' })]
  }

  async function safely(from: Sender, responseUrl: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      logger.error('a command in Slack could not be answered', { room: from.room, user: from.user, error })
      await api.respond(responseUrl, commandFailure()).catch(() => {})
    }
  }

  return {
    async typed({ from, text, responseUrl }: Typed): Promise<void> {
      const checked = await guard.check(from)
      if ('refusal' in checked) return guard.refused({ from, what: 'command', tried: verbOf(text) }, checked.refusal)
      await safely(from, responseUrl, () => run(checked.caller, from, responseUrl, plainText(text, nameOf), false))
    },

    /** A command that was shown with a button. */
    async confirmed(by: Caller, { from, responseUrl, isPrivate }: Press, command: string): Promise<void> {
      if (responseUrl === null) throw new Error('A press without an address to answer to.')
      await safely(from, responseUrl, () => run(by, from, responseUrl, command, isPrivate))
    },
  }
}

export type TakeCommand = ReturnType<typeof createTakeCommand>

/** The verb of a command, for the audit trail. Other words of people are not put there. */
export function verbOf(command: string): string {
  const [first = ''] = command.trim().toLowerCase().split(/\s/, 1)
  return isVerb(first) ? first : 'unknown'
}

const commandFailure = (): SlackMessage => says('Something went wrong here. The log of the server says what.')

/** As few messages as it needs. What does not fit is left out, and the last one says so. */
export function messagesOf(answer: Answer, confirm: readonly SlackBlock[] | null, most: number): SlackMessage[] {
  const { parts, file } = answer
  const all = [
    ...parts.flatMap(partOf),
    ...(file === undefined ? [] : [line(bold('File '), code(shownName(file.name))), ...pieces(file.content)]),
  ]
  const packs = packed(all.length === 0 ? [line('Done.')] : all)
  const shown = packs.slice(0, most)
  const isCut = packs.length > shown.length
  return shown.map((pack, i) => {
    const isLast = i === shown.length - 1
    const left = isCut && isLast ? [line(bold('There is more. '), MORE)] : []
    const { text, blocks } = whisper(...pack, ...left)
    // Whoever has not seen all of it is not asked to go on.
    return { text, blocks: [...blocks, ...(isLast && !isCut ? (confirm ?? []) : [])] }
  })
}

const MORE =
  'Only you see this, and Slack shows nobody alone a long text. Ask for less of it (show-file PATH --lines A:B, list-files PATH --depth 1), or open the console.'

function partOf(part: AnswerPart): RichPart[] {
  switch (part.kind) {
    case 'heading':
      return cut(part.text).map((text) => line(bold(text)))
    case 'text':
      return cut(part.text).map((text) => line(plain(text)))
    case 'lines':
      return part.lines.flatMap((one) => cut(`• ${one}`).map((text) => line(plain(text))))
    case 'code':
      return pieces(part.text)
  }
}

/** Code in blocks that Slack takes, cut between lines where that is possible. */
function pieces(text: string): RichPart[] {
  const blocks: string[] = []
  let open: string | null = null
  for (const one of text.split('\n').flatMap(cut)) {
    if (open === null) open = one
    else if (sizeOf(open) + sizeOf(one) + 2 <= MOST_PIECE) open = `${open}\n${one}`
    else {
      blocks.push(open)
      open = one
    }
  }
  return [...blocks, open ?? ''].filter((block) => block !== '').map(preformatted)
}

/** A long line as several, none of which ends in half a character. */
function cut(text: string): string[] {
  if (sizeOf(text) <= MOST_PIECE) return [text]
  const half = Math.floor(text.length / 2)
  const end = /[\ud800-\udbff]/.test(text[half - 1] ?? '') ? half - 1 : half
  return [...cut(text.slice(0, end)), ...cut(text.slice(end))]
}

function packed(parts: readonly RichPart[]): RichPart[][] {
  const packs: RichPart[][] = []
  let open: RichPart[] = []
  let size = 0
  for (const part of parts) {
    const own = sizeOf(JSON.stringify(part.elements))
    if (open.length > 0 && (size + own > MOST_SIZE || open.length >= MOST_PARTS)) {
      packs.push(open)
      open = []
      size = 0
    }
    open.push(part)
    size += own
  }
  return [...packs, open]
}
