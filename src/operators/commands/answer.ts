// What a command answers, in no chat's own markup.

import type { ErrorCode } from '../../domain/errors.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'

/**
 * Only the person who asked sees it. All texts are plain: a channel escapes every character that means something there. Nothing in them
 * is hidden, whoever wrote it.
 */
export interface Answer {
  parts: AnswerPart[]
  /** What is too long to read in a message. */
  file?: AnswerFile
  /** What the person may do next, after a look at the parts. */
  confirm?: AnswerConfirm
  /** Set if the command was refused. */
  error?: ErrorCode
}

export type AnswerPart =
  | { kind: 'heading' | 'text'; text: string }
  /** One item each. */
  | { kind: 'lines'; lines: string[] }
  /** Every blank counts. */
  | { kind: 'code'; text: string }

export interface AnswerFile {
  name: string
  content: string
  /** How Slack names the language. Other chats may ignore it. */
  snippetType: string
  /** Whoever sees the room may see it, as they see the diffs of its agents. Left out: it is for the person alone. */
  to?: 'room'
}

interface AnswerConfirm {
  /** For a button. */
  label: string
  /** Runs as if the person had typed it. It says exactly what they were shown, so it does nothing else if that has changed. */
  command: string
}

export const heading = (text: string): AnswerPart => ({ kind: 'heading', text })
export const text = (text: string): AnswerPart => ({ kind: 'text', text })
export const lines = (lines: string[]): AnswerPart => ({ kind: 'lines', lines })
export const code = (text: string): AnswerPart => ({ kind: 'code', text })

export const says = (...texts: string[]): Answer => ({ parts: texts.map(text) })

const MOST_FILE_CHARS = 500_000

/** What goes into a file is bounded too, because some of it is made of names that an agent chose. */
export function file(name: string, content: string, snippetType = 'text'): AnswerFile {
  const more = content.length - MOST_FILE_CHARS
  if (more <= 0) return { name, content, snippetType }
  return { name, content: `${content.slice(0, MOST_FILE_CHARS)}\n… ${more} more characters`, snippetType }
}

/** Foreign words on one line of at most `width` characters. */
export function oneLine(words: string, width: number): string {
  const line = Array.from(
    visibleProse(words.slice(0, width * 4))
      .replace(/\s+/g, ' ')
      .trim(),
  )
  const isCut = line.length > width || words.length > width * 4
  return isCut ? `${line.slice(0, width - 1).join('')}…` : line.join('')
}

/** Facts about one thing, on one line. */
export const facts = (...all: (string | null)[]): string => all.filter((one) => one !== null && one !== '').join(' · ')

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const kilobytes = bytes / 1_024
  return kilobytes < 1_024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1_024).toFixed(1)} MB`
}

export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`

/** Whether it can be read in a message. */
export const fitsInline = (content: string, lineCount: number, most: { lines: number; bytes: number }): boolean =>
  lineCount <= most.lines && Buffer.byteLength(content) <= most.bytes
