// Slack messages as plain data: the few kinds of blocks that our messages use.
//
// Text that is not our own stands only in rich text. Slack shows it there as it is: no mentions, links, emoji codes or bold, and nothing
// to escape. The one block that Slack parses is a section with `mrkdwn`, and it holds only our own words.

import { isoTime } from '../../../domain/clock.ts'

export interface SlackMessage {
  /** What a notification shows, and clients that show no blocks. Slack parses it, so it is escaped. */
  text: string
  blocks: SlackBlock[]
  /** What was too long for the message. The message says that it is in the thread. Left out: nothing was. */
  files?: ThreadFile[]
}

/** A file for the thread of the message. The name changes with the content, so a name that was uploaded before needs no second upload. */
export interface ThreadFile {
  name: string
  content: string
  /** As Slack's `snippet_type`. */
  snippetType: 'diff' | 'json' | 'text'
}

export type SlackBlock = RichText | MrkdwnSection | Actions

export interface RichText {
  type: 'rich_text'
  elements: RichPart[]
}

export type RichPart =
  | { type: 'rich_text_section'; elements: Inline[] }
  | { type: 'rich_text_quote'; elements: Inline[] }
  | { type: 'rich_text_preformatted'; elements: TextPiece[] }

export type Inline =
  | TextPiece
  | { type: 'emoji'; name: string }
  | { type: 'link'; url: string; text: string }
  | { type: 'date'; timestamp: number; format: string; fallback: string }

interface TextPiece {
  type: 'text'
  text: string
  style?: { bold?: true; code?: true; italic?: true }
}

interface MrkdwnSection {
  type: 'section'
  text: { type: 'mrkdwn'; text: string }
}

export interface Actions {
  type: 'actions'
  elements: Button[]
}

export interface Button {
  type: 'button'
  action_id: string
  text: { type: 'plain_text'; text: string; emoji: false }
  value: string
  style?: 'primary' | 'danger'
}

export const plain = (text: string): Inline => ({ type: 'text', text })
export const bold = (text: string): Inline => ({ type: 'text', text, style: { bold: true } })
/** A name that is not ours. */
export const code = (text: string): Inline => ({ type: 'text', text, style: { code: true } })
export const emoji = (name: string): Inline => ({ type: 'emoji', name })
export const link = (url: string, text: string): Inline => ({ type: 'link', url, text })

/** A moment, which every reader sees in their own time zone. */
export const time = (ms: number): Inline => ({
  type: 'date',
  timestamp: Math.floor(ms / 1_000),
  format: '{date_short_pretty} at {time}',
  fallback: `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`,
})

/** One line. Strings are our own words. Slack refuses a text without characters, so such a piece is left out. */
export function line(...pieces: (Inline | string | null)[]): RichPart {
  const elements = pieces.flatMap((piece) => {
    const inline = typeof piece === 'string' ? plain(piece) : piece
    return inline === null || isEmpty(inline) ? [] : [inline]
  })
  return { type: 'rich_text_section', elements }
}

const isEmpty = (piece: Inline): boolean => piece.type === 'text' && piece.text === ''

export const quote = (text: string): RichPart => ({ type: 'rich_text_quote', elements: [plain(text)] })

export const preformatted = (text: string): RichPart => ({
  type: 'rich_text_preformatted',
  elements: [{ type: 'text', text }],
})

/** A block of its own, or none if nothing is left of its parts: Slack refuses empty ones. */
export function rich(...parts: (RichPart | null)[]): SlackBlock[] {
  const elements = parts.flatMap((part) => (part === null || part.elements.every(isEmpty) ? [] : [part]))
  return elements.length === 0 ? [] : [{ type: 'rich_text', elements }]
}

/** What a part says, without its emoji. */
export const wordsOf = ({ elements }: RichPart): string =>
  (elements as Inline[])
    .map((piece) => (piece.type === 'emoji' ? '' : piece.type === 'date' ? piece.fallback : piece.text))
    .join('')
    .trim()

/** Only for our own words: Slack parses it. */
export const mrkdwn = (text: string): SlackBlock => ({
  type: 'section',
  text: { type: 'mrkdwn', text },
})

/** Slack's control characters in a text that it parses. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
