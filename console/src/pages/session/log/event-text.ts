// An event as text: one line for the list, and JSON for a close look. JSON can name every character, so those that nobody sees are named.

import type { RunEvent } from 'quarterdeck/client'

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu
const LINE_CHARS = 200

export const eventJson = (event: RunEvent): string => JSON.stringify(event, null, 2).replace(HIDDEN, escaped)

/** Line breaks are the layout of the JSON itself: inside of texts they are escaped already. */
function escaped(character: string): string {
  if (character === '\n') return character
  return Array.from({ length: character.length }, (_, i) => {
    const unit = character.charCodeAt(i).toString(16).padStart(4, '0')
    return `\\u${unit}`
  }).join('')
}

/** What is special about an event, without its type and time. */
export function eventLine(event: RunEvent): string {
  const { type: _type, timestamp: _timestamp, ...rest } = event
  const text = 'delta' in rest && typeof rest.delta === 'string' ? rest.delta : wordsOf(rest)
  const line = text
    .slice(0, LINE_CHARS * 2)
    .replace(/\s+/g, ' ')
    .replace(HIDDEN, escaped)
  return line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line
}

function wordsOf(rest: Record<string, unknown>): string {
  const parts = Object.entries(rest).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    if (typeof value === 'object') return [`${name} ${shortJson(value)}`]
    return [`${name} ${String(value).slice(0, LINE_CHARS)}`]
  })
  return parts.join(', ')
}

/** The beginning of a large value, without laying all of it out. */
function shortJson(value: object): string {
  const parts: string[] = []
  for (const [name, inner] of Object.entries(value).slice(0, 6)) {
    const text = typeof inner === 'object' && inner !== null ? (Array.isArray(inner) ? '[…]' : '{…}') : String(inner)
    parts.push(Array.isArray(value) ? text.slice(0, 60) : `${name}: ${text.slice(0, 60)}`)
  }
  return Array.isArray(value) ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`
}

export interface EventFilter {
  /** Null: all. */
  type: string | null
  /** In any part of the event. */
  text: string
}

const searched = new WeakMap<RunEvent, string>()

/** Whether an event fits. What was laid out for a search is kept, so that typing on is quick. */
export function fits(event: RunEvent, { type, text }: EventFilter): boolean {
  if (type !== null && event.type !== type) return false
  if (text === '') return true
  let all = searched.get(event)
  if (all === undefined) {
    all = JSON.stringify(event).toLowerCase()
    searched.set(event, all)
  }
  return all.includes(text)
}
