// Measures JSON as it arrives, so that a body that is too large is refused before it is stored, decoded or parsed. It knows only where
// strings begin and end and what separates values. The parser decides whether it is valid JSON.

import { ServerError } from '../../domain/errors.ts'

/** A body of 10 MB can contain five million values, and looking at each of them would block the event loop for seconds. */
export const MAX_VALUES = 100_000
/** Code that walks a value may be recursive. */
const MAX_DEPTH = 100

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** `{` and `[` without the bit in which they differ. `}` and `]` likewise. */
const OPEN = 0x5b
const CLOSE = 0x5d
const SAME_BRACKET = 0xff ^ 0x20

export class JsonMeter {
  #values = 1
  #depth = 0
  #inString = false
  #isEscaped = false
  /** A bracket was opened, and nothing has followed yet. */
  #isEmpty = false

  /** Throws at the first value or level that is too many: `body_too_large` for values, `malformed_json` for levels. */
  take(chunk: Uint8Array): void {
    // Every byte of every body passes here, and a local variable is faster than a field.
    let [inString, isEscaped, isEmpty] = [this.#inString, this.#isEscaped, this.#isEmpty]
    let [values, depth] = [this.#values, this.#depth]
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
