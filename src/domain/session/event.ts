// The events of a run: AG-UI events as @ag-ui/core 1.0 defines them. Only types; code that validates loads the schemas itself.

import type { Event as AgUiEvent, EventType, TokenUsage } from '@ag-ui/core'

/** The protocol version we speak. RUN_STARTED carries it. */
export const AG_UI_VERSION = '1.0'

/** The activity that shows an app of an MCP server, as AG-UI clients know it. */
export const APP_ACTIVITY = 'mcp-apps'

type Literal<E> = E extends { type: infer T extends EventType } ? Omit<E, 'type'> & { type: `${T}` } : never

/** The engine never appends the short forms (`*_CHUNK`), because a reader may join at any event. */
type Chunk = `${EventType.TEXT_MESSAGE_CHUNK | EventType.TOOL_CALL_CHUNK | EventType.REASONING_MESSAGE_CHUNK}`

/** One event of a run. Its `type` is a string literal, so that a `switch` needs no enum at run time. */
export type RunEvent = Exclude<Literal<AgUiEvent>, { type: Chunk }>
export type RunEventType = RunEvent['type']
export type RunEventOf<T extends RunEventType> = Extract<RunEvent, { type: T }>

/** Ends a run on the wire; the last event of every run is one of these. */
export type TerminalEvent = RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'>

/** One operation of RFC 6902. */
export type JsonPatchOperation = RunEventOf<'STATE_DELTA'>['delta'][number]

/** What a suspended run asks a person or the client. */
export type Interrupt = Extract<
  NonNullable<RunEventOf<'RUN_FINISHED'>['outcome']>,
  { type: 'interrupt' }
>['interrupts'][number]

export type { AgUiEvent, TokenUsage }

/** The type of a stored event, read from its text without parsing. Relies on `type` being the first key we write. */
export function typeOfEventText(text: string): RunEventType {
  return text.slice(9, text.indexOf('"', 9)) as RunEventType
}

const LETTER_U = 0x55

/** Called for every token, so the second letter of the type is compared first: it rules out nearly all events. */
export function isTerminalText(text: string): boolean {
  if (text.charCodeAt(10) !== LETTER_U) return false
  return text.startsWith('{"type":"RUN_FINISHED"') || text.startsWith('{"type":"RUN_ERROR"')
}

const TEXT_START = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"'
const DELTA_START = '","delta":"'
const TIME_START = '","timestamp":'
/** A quote ends a string, and a backslash starts an escape that needs the parser. */
const QUOTE_OR_ESCAPE = /["\\]/

/**
 * Reads a stored event without the parser, if it is a plain piece of a message: this event comes by the thousand. Null for every
 * other event, and for text that needs the parser.
 */
export function plainTextEvent(text: string): RunEventOf<'TEXT_MESSAGE_CONTENT'> | null {
  if (text.slice(0, TEXT_START.length) !== TEXT_START) return null
  const idEnd = text.indexOf('"', TEXT_START.length)
  const deltaStart = idEnd + DELTA_START.length
  const deltaEnd = text.lastIndexOf(TIME_START)
  if (deltaEnd < deltaStart || text.slice(idEnd, deltaStart) !== DELTA_START) return null
  const messageId = text.slice(TEXT_START.length, idEnd)
  const delta = text.slice(deltaStart, deltaEnd)
  const timestamp = Number(text.slice(deltaEnd + TIME_START.length, -1))
  if (QUOTE_OR_ESCAPE.test(delta) || messageId.includes('\\') || !Number.isSafeInteger(timestamp)) return null
  return { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: detached(delta), timestamp }
}

/** V8 copies texts shorter than this. */
const SHORT = 13

/**
 * A copy of a text, to keep. A slice of a string keeps the whole string alive in V8, so a kept token would hold everything that
 * came in the same read. Adding a character in front makes V8 write a new string.
 */
export const detached = (text: string): string => (text.length < SHORT ? text : ` ${text}`.slice(1))
