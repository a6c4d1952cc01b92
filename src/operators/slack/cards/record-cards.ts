// Prompts, waits for instructions and alerts as cards.

import type { Alert, Prompt, PromptType, Standby } from '../../../domain/records/record.ts'
import { isWaiting, NOBODY_WAITS, nobodyWaitsSince } from '../../../domain/records/record.ts'
import { bold, code, line, quote, type RichPart, rich, type ThreadFile, time } from './blocks.ts'
import {
  button,
  type CardAction,
  type CardBody,
  type CardLook,
  type CardSubject,
  checklist,
  duration,
  labelOf,
} from './card.ts'
import { notifiedNote, shownName, shownProse, wholeText } from './shown-text.ts'

const MOST_WORDS = 3_000
const MOST_PROMPT = 600
const MOST_STEPS = 15

const PROMPT_ASKS: Readonly<Record<PromptType, string>> = {
  continuation: 'asks whether to go on',
  clarification: 'asks what you mean',
  error_recovery: 'has run into an error and asks what to do',
  resource_warning: 'warns that something runs out',
}

export function promptBody({ wait }: CardSubject<Prompt>, look: CardLook): CardBody {
  const { promptType, promptText, elapsedSeconds, actionsTaken } = wait
  const work = [
    ...(elapsedSeconds === null ? [] : [`worked ${duration(elapsedSeconds)}`]),
    ...(actionsTaken === null ? [] : [`${actionsTaken} action${actionsTaken === 1 ? '' : 's'}`]),
  ]
  const words = agentsWords(wait, promptText, look)
  return {
    asks: PROMPT_ASKS[promptType],
    notified: [itSays(promptText)],
    ...words,
    blocks: [
      ...(work.length === 0 || look.detail === 'minimal' ? [] : rich(line(`It says: ${work.join(', ')}.`))),
      ...words.blocks,
    ],
    buttons: buttons(look, 'continue', 'refine', 'stop'),
    hint: 'Or reply in this thread with continue, with refine and what to do instead, or with stop.',
  }
}

export function instructionBody({ wait }: CardSubject<Standby>, look: CardLook): CardBody {
  return {
    asks: 'waits for an instruction',
    notified: [itSays(wait.message)],
    ...agentsWords(wait, wait.message, look),
    buttons: buttons(look, 'resume', 'resume_with_text', 'stop'),
    hint: 'Or reply in this thread with resume, with resume and what to do next, or with stop.',
  }
}

export function alertBody({ wait, session }: CardSubject<Alert>, look: CardLook): CardBody {
  const { status, idleSeconds, lastTool, lastActivityAt } = wait
  const asks = status === 'escalated' ? 'is still silent after all nudges' : `is silent for ${duration(idleSeconds)}`
  const facts = [
    line(
      'Last tool ',
      lastTool === null ? 'none' : code(shownName(lastTool)),
      ' · last heard of ',
      time(lastActivityAt),
      '. It may sit in a dialog of its own, or be done.',
    ),
    ...nudges(wait),
  ]
  const prompt =
    session.prompt === null || session.prompt === ''
      ? []
      : [line(bold('It was started with:')), quote(shownProse(session.prompt, MOST_PROMPT).text)]
  const steps = checklist(wait.progressSnapshot, MOST_STEPS)
  return {
    asks,
    notified: [],
    blocks: [...rich(...facts), ...(look.detail === 'minimal' ? [] : [...rich(...prompt), ...rich(...steps)])],
    files: [],
    buttons: buttons(look, 'nudge', 'nudge_with_text', 'stop', 'dismiss'),
    hint: 'Or reply in this thread with nudge, with nudge and a text, with stop, or with dismiss.',
  }
}

/** How often it was nudged, and with which words. */
export function nudges({ nudgeCount, lastNudgeAt, nudgedBy, nudgeMessage }: Alert): RichPart[] {
  if (nudgeCount === 0) return []
  const at = lastNudgeAt === null ? [] : [', the last ', time(lastNudgeAt)]
  const way = nudgedBy === null ? '. It waits for the agent’s next call.' : `, through ${shownName(nudgedBy)}.`
  const count = bold(`Nudged ${nudgeCount === 1 ? 'once' : `${nudgeCount} times`}`)
  return [
    line(count, ...at, way),
    ...(nudgeMessage === null || nudgeMessage === '' ? [] : [quote(shownProse(nudgeMessage, MOST_PROMPT).text)]),
  ]
}

const itSays = (text: string): string => (text === '' ? '' : `It says: ${notifiedNote(text)}`)

/** Set apart from what we say ourselves. */
function agentsWords(wait: Prompt | Standby, text: string, { detail }: CardLook): Pick<CardBody, 'blocks' | 'files'> {
  const left = nobodyWaitsSince(wait) === null ? [] : [line(NOBODY_WAITS)]
  if (text === '') return { blocks: rich(...left), files: [] }
  const shown = shownProse(text, detail === 'minimal' ? MOST_PROMPT : MOST_WORDS)
  const file: ThreadFile = {
    name: `agents-words-${wait.id.replace(/[^\w-]+/g, '_').slice(-12)}.txt`,
    content: wholeText(text),
    snippetType: 'text',
  }
  return {
    blocks: rich(
      ...left,
      line(bold('In the agent’s words:')),
      quote(shown.text),
      ...(shown.isCut ? [line('All of its words are in the thread.')] : []),
    ),
    files: shown.isCut && isWaiting(wait) ? [file] : [],
  }
}

const buttons = (look: CardLook, ...actions: CardAction[]) =>
  actions.map((action) => button(look, action, labelOf(action)))
