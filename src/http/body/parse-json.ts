// Parses JSON from strangers. It refuses what JSON.parse accepts but the rest of the server must never see. Cheap checks come first: for
// an ordinary body, they are a few native searches of its text. `json-limits.ts` has already checked size and depth.

import { ServerError } from '../../domain/errors.ts'

/** Throws `malformed_json`. `placeOf` turns a position in the text into a position in the body, for the error message. */
export function parseJson(text: string, placeOf: (position: number) => number = (position) => position): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(`The body is not valid JSON${positionOf(error, placeOf)}.`)
  }
  if (isSuspicious(text)) checkTree(value)
  return value
}

/**
 * Throws `malformed_json` if an object has a key twice: JSON.parse keeps the last one, and somebody else who reads the same text may go
 * by the first. `members` is how many the text has. The parsed value has fewer if some were dropped.
 */
export function refuseRepeatedKeys(root: unknown, members: number): void {
  const open: unknown[] = [root]
  let kept = 0
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner = Object.values(value)
    if (!Array.isArray(value)) kept += inner.length
    for (const one of inner) open.push(one)
  }
  if (kept < members) {
    throw malformed(
      'An object in the body has the same key twice, so it does not say clearly what you want. Send it once.',
    )
  }
}

export const malformed = (detail: string): ServerError => new ServerError('malformed_json', detail)

// V8's message quotes the text around the error. Only the position is sent back.
function positionOf(error: unknown, placeOf: (position: number) => number): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (character ${placeOf(Number(position))})`
}

// The decoded body is well-formed, so a lone surrogate can only come from an escape (`\ud…`). Characters of a forbidden key can be
// escaped, too (`\u00…`).
function isSuspicious(text: string): boolean {
  return (
    text.includes('__proto__') ||
    text.includes('"constructor"') ||
    text.includes('\\u00') ||
    text.includes('\\ud') ||
    text.includes('\\uD')
  )
}

function checkTree(root: unknown): void {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') checkString(value)
    else if (Array.isArray(value)) for (const item of value) open.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        checkString(key)
        if (key === '__proto__' || (key === 'constructor' && hasPrototype(member))) {
          throw malformed(`The body has the key ${JSON.stringify(key)}, which is not allowed.`)
        }
        open.push(member)
      }
    }
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function checkString(text: string): void {
  if (!text.isWellFormed()) throw malformed('A string in the body contains half a character (a lone surrogate).')
}

// Measures JSON as it arrives, so that a body that is too large is refused before it is stored, decoded or parsed. It knows only where
// strings begin and end and what separates values. The parser decides whether it is valid JSON.

/** A body of 10 MB can contain five million values, and looking at each of them would block the event loop for seconds. */
export const MAX_VALUES = 100_000
/** Code that walks a value may be recursive. */
const MAX_DEPTH = 100

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
/** `{` and `[` without the bit in which they differ. `}` and `]` likewise. */
const OPEN = 0x5b
const CLOSE = 0x5d
const SAME_BRACKET = 0xff ^ 0x20

export class JsonMeter {
  #values = 1
  #members = 0
  #depth = 0
  #inString = false
  #isEscaped = false
  /** A bracket was opened, and nothing has followed yet. */
  #isEmpty = false

  /** How many members all objects have together. */
  get members(): number {
    return this.#members
  }

  /** Throws at the first value or level that is too many: `body_too_large` for values, `malformed_json` for levels. */
  take(chunk: Uint8Array): void {
    // Every byte of every body passes here, and a local variable is faster than a field.
    let [inString, isEscaped, isEmpty] = [this.#inString, this.#isEscaped, this.#isEmpty]
    let [values, members, depth] = [this.#values, this.#members, this.#depth]
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] ?? 0
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inString = false
        continue
      }
      if (byte <= SPACE) continue
      const bracket = byte & SAME_BRACKET
      if (isEmpty) {
        isEmpty = false
        if (bracket !== CLOSE) values += 1
      }
      if (byte === QUOTE) inString = true
      else if (byte === COMMA) values += 1
      else if (byte === COLON) members += 1
      else if (bracket === OPEN) {
        isEmpty = true
        depth += 1
        if (depth > MAX_DEPTH) throw tooDeep()
      } else if (bracket === CLOSE) depth -= 1
      if (values > MAX_VALUES) throw tooManyValues()
    }
    this.#inString = inString
    this.#isEscaped = isEscaped
    this.#isEmpty = isEmpty
    this.#values = values
    this.#members = members
    this.#depth = depth
  }
}

const tooDeep = (): ServerError =>
  new ServerError('malformed_json', `The body is nested deeper than ${MAX_DEPTH} levels.`)

const tooManyValues = (): ServerError =>
  new ServerError(
    'body_too_large',
    `The body contains more than ${MAX_VALUES.toLocaleString('en')} JSON values. Send less at once.`,
    { details: { max_values: MAX_VALUES } },
  )
