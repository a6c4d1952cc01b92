// What a run says: AG-UI events in the vocabulary of @ag-ui/core 1.0. Types only; its schemas load where they validate.

import type { Event as AgUiEvent, EventType, TokenUsage } from '@ag-ui/core'
import { detached } from './detached.ts'

/** The protocol version we speak; RUN_STARTED carries it. */
export const AG_UI_VERSION = '1.0'

type Literal<E> = E extends { type: infer T extends EventType } ? Omit<E, 'type'> & { type: `${T}` } : never

/** The engine never appends the `*_CHUNK` short forms: a reader may join at any event. */
type Chunk = `${EventType.TEXT_MESSAGE_CHUNK | EventType.TOOL_CALL_CHUNK | EventType.REASONING_MESSAGE_CHUNK}`

/** One event of a run. Its `type` is a plain string literal, so that a `switch` needs no enum at run time. */
export type RunEvent = Exclude<Literal<AgUiEvent>, { type: Chunk }>
export type RunEventType = RunEvent['type']
export type RunEventOf<T extends RunEventType> = Extract<RunEvent, { type: T }>

/** What closes a run on the wire; exactly one of them is its last event. */
export type TerminalEvent = RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'>

/** One operation of RFC 6902. */
export type JsonPatchOperation = RunEventOf<'STATE_DELTA'>['delta'][number]

/** What a suspended run asks of a person. */
export type Interrupt = Extract<
  NonNullable<RunEventOf<'RUN_FINISHED'>['outcome']>,
  { type: 'interrupt' }
>['interrupts'][number]

export type { AgUiEvent, TokenUsage }

/** The type of a stored event, read from its text without parsing it. Relies on `type` being the first key we write. */
export function typeOfEventText(text: string): RunEventType {
  return text.slice(9, text.indexOf('"', 9)) as RunEventType
}

const LETTER_U = 0x55

/** Asked for every token: one look at the second letter of the type settles it for nearly all. */
export function isTerminalText(text: string): boolean {
  if (text.charCodeAt(10) !== LETTER_U) return false
  return text.startsWith('{"type":"RUN_FINISHED"') || text.startsWith('{"type":"RUN_ERROR"')
}

const TEXT_START = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"'
const DELTA_START = '","delta":"'
const TIME_START = '","timestamp":'
/** A quote ends a string, and a backslash begins what has to be looked into. */
const QUOTE_OR_ESCAPE = /["\\]/

/**
 * The event of a stored text, where it is a plain piece of a message: the one that comes by the thousand, read without parsing it.
 * Null for any other, and for whatever has to be looked into.
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
