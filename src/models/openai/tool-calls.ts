import { isRecord } from '../../domain/is-record.ts'
import type { ModelPart } from '../model.ts'
import { parseObject, textAt } from '../wire/json.ts'

interface OpenCall {
  /** Unique, even when the server gives two calls the same id. */
  id: string
  /** As the server sent it, or ''. */
  sentId: string
  name: string
  /** False until the name is known: only then can the start be sent. */
  started: boolean
  /** Arguments that came before the name. */
  early: string
  hasArguments: boolean
  /** All arguments so far. */
  text: string
}

/** Limit of the characters that are parsed again, in one answer, to tell a new call from more of the last one. */
const MAX_PARSED_AGAIN = 10_000_000
/** What an open call counts in `kept`. A hostile server may open many that never get a name. */
const CALL_CHARACTERS = 100

/**
 * Puts the tool calls of a streamed answer together. Calls may lack an id or an index, repeat their name or leave it empty, and
 * come in pieces or whole.
 */
export function createToolCalls(newId: () => string) {
  const calls: OpenCall[] = []
  // A hostile server sends a million pieces, and each is looked up, so `calls` is never searched.
  const newestAt = new Map<number, OpenCall>()
  const newestSentAs = new Map<string, OpenCall>()
  const usedIds = new Set<string>([''])
  let parsedAgain = 0
  let kept = 0

  const callOf = (index: number | null, id: string, name: string, text: string): OpenCall => {
    let known: OpenCall | undefined
    if (index !== null) known = newestAt.get(index)
    else if (id !== '') known = newestSentAs.get(id) ?? (name === '' ? calls.at(-1) : undefined)
    else if (name === '') known = calls.at(-1)
    if (known !== undefined && !isAnother(known, id, name, text)) return known
    const call = {
      id: usedIds.has(id) ? newId() : id,
      sentId: id,
      name: '',
      started: false,
      early: '',
      hasArguments: false,
      text: '',
    }
    calls.push(call)
    usedIds.add(call.id)
    kept += CALL_CHARACTERS
    if (index !== null) newestAt.set(index, call)
    newestSentAs.set(id, call)
    return call
  }

  /**
   * Gemini's compatible API gives every parallel call the index 0, and some local servers give every call the same id. So a piece
   * with a name begins another call when its id or its name differs, or when its arguments begin again after complete ones.
   */
  const isAnother = (known: OpenCall, id: string, name: string, text: string): boolean =>
    name !== '' &&
    known.name !== '' &&
    ((id !== '' && known.sentId !== id) ||
      name !== known.name ||
      (text.trimStart().startsWith('{') && isComplete(known.text)))

  const isComplete = (text: string): boolean => {
    parsedAgain += text.length
    return parsedAgain <= MAX_PARSED_AGAIN && parseObject(text) !== null
  }

  const start = (call: OpenCall, into: ModelPart[]) => {
    call.started = true
    into.push({ type: 'tool_call_start', id: call.id, name: call.name })
    if (call.early !== '') addArguments(call, call.early, into)
  }

  const addArguments = (call: OpenCall, text: string, into: ModelPart[]) => {
    if (!call.hasArguments && text.trim() !== '') call.hasArguments = true
    into.push({ type: 'tool_call_args', id: call.id, delta: text })
  }

  return {
    /** Adds the parts that one element of `delta.tool_calls` brings. */
    take(piece: unknown, into: ModelPart[]): void {
      if (!isRecord(piece)) return
      const id = textAt(piece, 'id')
      const name = textAt(piece.function, 'name')
      const index = typeof piece.index === 'number' ? piece.index : null
      const given: unknown = isRecord(piece.function) ? piece.function.arguments : undefined
      // A few servers send the arguments as an object instead of its JSON text.
      const text = typeof given === 'string' ? given : isRecord(given) ? JSON.stringify(given) : ''
      const call = callOf(index, id, name, text)
      if (call.name === '') call.name = name
      call.text += text
      if (!call.started) {
        call.early += text
        kept += text.length
        if (call.name !== '') start(call, into)
      } else if (text !== '') {
        addArguments(call, text, into)
      }
    },
    /** Ends all calls. */
    end(into: ModelPart[]): void {
      for (const call of calls) {
        if (!call.started) start(call, into)
        if (!call.hasArguments) into.push({ type: 'tool_call_args', id: call.id, delta: '{}' })
        into.push({ type: 'tool_call_end', id: call.id })
      }
    },
    count: () => calls.length,
    /** Characters that are held back until a call has its name. */
    kept: () => kept,
  }
}
