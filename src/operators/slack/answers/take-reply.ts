// Somebody wrote in the thread of a session. An answer is taken only where it is clear what it answers: nothing is ever guessed.

import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { type Approval, isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import type { ActionName } from '../../../domain/records/record-kinds.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { matchingIds } from '../../../domain/text/id-prefix.ts'
import { actionsOf } from '../../../supervision/records/describe-record.ts'
import { choicesOf } from '../../../supervision/records/question-choices.ts'
import { createTurns } from '../../../supervision/sessions/turns.ts'
import { isWorkspaceSession } from '../../../supervision/sessions/workspace-session.ts'
import { needsText, repliesTo } from '../cards/card-actions.ts'
import { type AnswerContext, askForText, isDangerous, secondLook, tell } from './answer-context.ts'
import { notAsText, ourFailure, says, saysWhy } from './answer-texts.ts'
import type { RecordAnswer } from './card-answers.ts'
import { editRecord, isEditable } from './edit-record.ts'
import type { ExpectedText, Participant } from './kept-notes.ts'
import { type Heard, letChoose, meantBy, type ParsedReply, parseReply } from './meant-record.ts'
import { plainText, type Reply } from './payloads.ts'
import { isOneValue, questionAnswer } from './question-answer.ts'

interface TakeReplyDeps {
  nameOf: (user: string) => string | null
  /** The channel under which the message of a record is kept. */
  channelOf: (room: string) => string
}

const LEAST_ID_CHARS = 4

export function createTakeReply(context: AnswerContext, { nameOf, channelOf }: TakeReplyDeps) {
  const { cards, services, guard, records, clock, logger } = context
  const inTurn = createTurns()
  const mayHint = createOncePerMinute(clock)

  /** A reply can only answer what was there to be seen before it. Both times are Slack's. */
  const wasShown = ({ messageRefs }: PersonRecord, { from, ts }: Reply): boolean =>
    Number(messageRefs[channelOf(from.room)]) < Number(ts)

  async function hint({ participant, waiting }: Heard): Promise<void> {
    if (!mayHint(`${participant.thread} ${participant.user}`)) return
    const [only, ...others] = waiting
    if (only === undefined)
      return tell(context, participant, says('Nothing waits for an answer here, so nobody was told.'))
    const words =
      others.length === 0
        ? repliesTo(actionsOf(only)).join(', ')
        : 'approve, reject, continue, … and the four characters of its id'
    await tell(
      context,
      participant,
      says(`That is not an answer, so nothing was decided. What waits here takes: ${words}.`),
    )
  }

  async function answered(heard: Heard, said: ParsedReply & { action: ActionName }): Promise<void> {
    const { by, participant } = heard
    const wait = await meantBy(context, heard, said)
    if (wait === null) return
    const { action, text } = said
    const digest = wait.wait === 'approval' ? wait.digest : null
    if (text === '' && needsText(actionsOf(wait), action))
      return askForText(context, by, participant, wait, { action, digest })
    if (action === 'approve' && wait.wait === 'approval' && isWaiting(wait) && needsLook(wait)) {
      return tell(context, participant, await secondLook(context, by, participant, wait, wait.digest))
    }
    if (action === 'answer') await answerQuestion(context, heard, wait, text, digest)
    else await giveAnswer(context, heard, wait, { action, digest, text: text === '' ? undefined : text })
  }

  /** Words that are not an answer by themselves. */
  async function plainWords(heard: Heard, { text: marked }: Reply, text: string): Promise<void> {
    const { by, waiting } = heard
    const [instruction, ...more] = waiting.filter(({ wait }) => wait === 'standby')
    // Whoever begins with a name talks to that person.
    const isToSomebody = marked.trimStart().startsWith('<@')
    if (instruction !== undefined && more.length === 0 && !isToSomebody) {
      if ((await records.refusalFor(by, instruction, 'resume', false)) !== null) return hint(heard)
      await giveAnswer(context, heard, instruction, { action: 'resume', digest: null, text })
      return
    }
    if (waiting.length === 0 && !isToSomebody) return steer(heard, text)
    await hint(heard)
  }

  /** Nothing waits, so the words are for the agent. Agents of our own take none between their runs. */
  async function steer(heard: Heard, text: string): Promise<void> {
    const { by, participant } = heard
    const session = await services.session(participant.sessionId)
    if (session?.supervision === undefined || isWorkspaceSession(session)) return hint(heard)
    try {
      await tell(context, participant, says(await services.steer(by, session.id, text)))
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      // Operators may talk in the threads of others. They are not told for every word that it is not for the agent.
      if (!mayHint(`${participant.thread} ${participant.user}`)) return
      await tell(context, participant, saysWhy(error.message, 'The agent was told nothing.'))
    }
  }

  async function edit(heard: Heard, reply: Reply, text: string): Promise<void> {
    const { by, participant, waiting } = heard
    const editable = waiting.filter(isEditable)
    const ids = text.split(/\s+/).filter((word) => word.length >= LEAST_ID_CHARS)
    const named = ids.flatMap((word) => matchingIds(editable, word, ({ id }) => id))
    const [only, ...others] = named.length > 0 ? [...new Set(named)] : editable
    if (only === undefined) {
      return tell(
        context,
        participant,
        says('A file edits a change or a call that waits here, and nothing like that does.'),
      )
    }
    if (others.length > 0) {
      return letChoose(
        context,
        heard,
        [only, ...others],
        'Several things can be edited. Write the four characters of one beside your file.',
      )
    }
    await editRecord(context, by, participant, only, reply.files)
  }

  async function heard(by: Caller, participant: Participant, reply: Reply): Promise<void> {
    const shown = (await services.records(participant.sessionId)).filter((one) => wasShown(one, reply))
    const all: Heard = { by, participant, shown, waiting: shown.filter(isWaiting) }
    const text = plainText(reply.text, nameOf).trim()
    if (reply.files.length > 0) return edit(all, reply, text)
    if (text === '') return
    const expected = await expectedOf(context, by, participant)
    if (expected !== null) return takeExpected(context, all, expected, text)
    const chosen = chosenIn(all.waiting, text)
    if (chosen !== null) {
      await answerQuestion(context, all, chosen, text, chosen.digest)
      return
    }
    const isId = (start: string): boolean => matchingIds(shown, start, ({ id }) => id).length > 0
    const said = parseReply(text, isId)
    if (said === null) return plainWords(all, reply, text)
    const { action } = said
    if (action === 'cancel') return tell(context, participant, says('There is nothing to cancel.'))
    await answered(all, { ...said, action })
  }

  return async (reply: Reply): Promise<void> => {
    const { from, thread } = reply
    const { room, user } = from
    const sessionId = await cards.sessionOfThread(room, thread)
    // Other threads are none of our business.
    if (sessionId === null) return
    const checked = await guard.check(from)
    const tried = parseReply(plainText(reply.text, nameOf).trim(), () => false)?.action ?? 'words'
    const attempt = { from, what: 'reply', tried, sessionId } as const
    if ('refusal' in checked) return guard.refused(attempt, checked.refusal)
    if ((await context.roomOf(sessionId)) !== room) return guard.refused(attempt, 'other_room')
    const participant = { room, user, thread, sessionId }
    await inTurn(`${thread} ${user}`, async () => {
      try {
        await heard(checked.caller, participant, reply)
      } catch (error) {
        logger.error('a reply in Slack could not be answered', { room, user, session_id: sessionId, error })
        await tell(context, participant, ourFailure())
      }
    })
  }
}

/** Dangerous, or another text than the agent's: whoever types a yes must have seen it. */
const needsLook = (wait: Approval): boolean =>
  isDangerous(wait) || wait.supervised?.isEdited === true || wait.editedArguments !== null

/** The question, if it is all that waits, has a few allowed values, and the text is one of them: then it is no other word. */
function chosenIn(waiting: readonly PersonRecord[], text: string): Approval | null {
  const [only, ...others] = waiting
  if (only?.wait !== 'approval' || only.question === undefined || others.length > 0) return null
  const { schema } = only.question
  return choicesOf(schema).length > 0 && questionAnswer(schema, text) !== null ? only : null
}

const MINUTE_MS = 60_000
/** Keys that are remembered. While there are more of them in one minute, nothing more is let through. */
const REMEMBERED = 1_000

/** True for a key that was not let through within the last minute. */
function createOncePerMinute(clock: Pick<Clock, 'mono'>): (key: string) => boolean {
  const last = new Map<string, number>()
  return (key) => {
    const now = clock.mono()
    for (const [one, at] of last) {
      // In the order of time, so the rest is newer.
      if (now - at < MINUTE_MS) break
      last.delete(one)
    }
    if (last.has(key) || last.size >= REMEMBERED) return false
    last.set(key, now)
    return true
  }
}

// Answers that are written as text: at once, or after a button has asked for the text.

/** Answers the record, and tells the person what came of it. False: their text was not taken. */
async function giveAnswer(
  context: AnswerContext,
  { by, participant }: Heard,
  wait: PersonRecord,
  answer: RecordAnswer,
): Promise<boolean> {
  const { isDone, message } = await context.records.answer(by, wait, answer)
  await tell(context, participant, message)
  return isDone
}

/** The text is the answer to a question, if it fits. */
async function answerQuestion(
  context: AnswerContext,
  heard: Heard,
  wait: PersonRecord,
  text: string,
  digest: string | null,
): Promise<boolean> {
  const question = wait.wait === 'approval' ? wait.question : undefined
  const given = question === undefined ? null : questionAnswer(question.schema, text)
  if (given !== null || !isWaiting(wait)) {
    return giveAnswer(context, heard, wait, { action: 'answer', digest, result: given?.value })
  }
  const isOne = question !== undefined && isOneValue(question.schema)
  const message = isOne
    ? says('Your text does not fit the question. Nothing was answered. The card says which values it takes.')
    : notAsText('This question has several fields.', context.services.link(wait.id))
  await tell(context, heard.participant, message)
  return false
}

/** The text that a button asked this person for. Null also if the person has answered in another way since: then they write about something else. */
async function expectedOf(
  { kept, services }: AnswerContext,
  by: Caller,
  participant: Participant,
): Promise<ExpectedText | null> {
  const expected = await kept.expected(participant)
  const wait = expected === null ? null : await services.find(expected.recordId)
  if (wait === null || isWaiting(wait) || wait.decidedBy !== by.user) return expected
  await kept.endExpecting(participant)
  return null
}

/** The reply is the text that a button asked for. */
async function takeExpected(context: AnswerContext, heard: Heard, expected: ExpectedText, text: string): Promise<void> {
  const { cards, services, kept, clock } = context
  const { participant } = heard
  const { recordId, action, digest, until } = expected
  const isOver = until <= clock.now()
  if (isOver || text.toLowerCase() === 'cancel') {
    await kept.endExpecting(participant)
    await cards.refresh(recordId)
    const why = isOver ? 'The time to write the text is over' : 'No text is expected any more'
    return tell(context, participant, says(`${why}. Nothing was decided; the card still has its buttons.`))
  }
  const wait = await services.find(recordId)
  if (wait === null) {
    await kept.endExpecting(participant)
    return tell(context, participant, says('What your text is for is gone. Nothing was decided.'))
  }
  const isTaken =
    action === 'answer'
      ? await answerQuestion(context, heard, wait, text, digest)
      : await giveAnswer(context, heard, wait, { action, digest, text })
  const now = await services.find(recordId)
  // A text that was too long, or that did not fit, can be written again.
  if (isTaken || now === null || !isWaiting(now)) await kept.endExpecting(participant)
}
