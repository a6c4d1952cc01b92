// What people do in Slack, and what comes of it. Each of the three ways in passes `guard.ts` first, and none of them ever throws.

import type { Clock } from '../../../domain/clock.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { NoteRefused } from '../../../supervision/oversight/note-refused.ts'
import type { Operators } from '../../../supervision/sessions/may-command.ts'
import { createTurns } from '../../../supervision/sessions/turns.ts'
import { roomOf } from '../../shown-from.ts'
import type { ButtonValues } from '../button-values.ts'
import type { SlackPerson } from '../channel.ts'
import type { SlackAnswers, SlackApi, SlackCards } from '../slack-api.ts'
import type { AnswerContext } from './answer-context.ts'
import { type AnswerServices, createCardAnswers } from './card-answers.ts'
import { createGuard } from './guard.ts'
import { type AnswerNotes, createKeptNotes } from './kept-notes.ts'
import { readCommand, readPress, readReply } from './payloads.ts'
import { createPressButton } from './press-button.ts'
import { createTakeCommand, type RunCommand } from './take-command.ts'
import { createTakeReply } from './take-reply.ts'

export interface SlackAnswersDeps {
  api: SlackApi
  cards: SlackCards
  buttons: ButtonValues
  people: readonly Pick<SlackPerson, 'name' | 'slack'>[]
  /** Our workspace, as Slack names it when we sign in. Nobody is let in while it is not known. */
  teamId: () => Promise<string>
  /** The rooms that may be used. */
  rooms: readonly string[]
  /** The room of sessions that name none; null: there is none. */
  ownRoom: string | null
  /** Name of a room's channel, under which records keep their messages. */
  channelOf: (room: string) => string
  services: AnswerServices
  operators: Operators
  notes: AnswerNotes
  runCommand: RunCommand
  noteRefused: NoteRefused
  clock: Clock
  logger: Logger
}

/** What was taken already, and comes again because Slack did not hear us. */
const REMEMBERED = 10_000

export function createSlackAnswers(deps: SlackAnswersDeps): SlackAnswers {
  const { api, cards, buttons, people, services, clock, logger, runCommand, channelOf, ownRoom } = deps
  const nameOf = (user: string): string | null => people.find(({ slack }) => slack === user)?.name ?? null
  const context: AnswerContext = {
    api,
    cards,
    buttons,
    services,
    clock,
    logger,
    guard: createGuard(deps),
    kept: createKeptNotes(deps.notes),
    records: createCardAnswers(deps),
    async roomOf(sessionId) {
      const session = await services.session(sessionId)
      return session === null ? null : roomOf(session, ownRoom)
    },
  }
  const takeCommand = createTakeCommand({ ...context, runCommand, nameOf, noteRefused: deps.noteRefused })
  const pressButton = createPressButton(context, takeCommand)
  const takeReply = createTakeReply(context, { nameOf, channelOf })
  const inTurn = createTurns()
  const taken = new Set<string>()

  async function once<T extends { key: string }>(read: T | null, take: (read: T) => Promise<void>): Promise<void> {
    if (read === null || taken.has(read.key)) return
    taken.add(read.key)
    const [oldest] = taken
    if (taken.size > REMEMBERED && oldest !== undefined) taken.delete(oldest)
    try {
      await take(read)
    } catch (error) {
      logger.error('something that a person did in Slack could not be answered', { error })
    }
  }

  return {
    // One after the other for each person in a thread, so that a double click finds what the first click has done.
    onAction: (payload) =>
      once(readPress(payload), (press) => inTurn(`${press.from.user} ${press.thread}`, () => pressButton(press))),
    onMessage: (event, envelope) => once(readReply(event, envelope), takeReply),
    onCommand: (payload) => once(readCommand(payload), takeCommand.typed),
  }
}
