// Measures JSON as it arrives, so that a body is refused before it is held, decoded or parsed. It knows where strings begin and
// end, and what separates values. Whether it is JSON at all is for the parser to say.

import { ServerError } from '../../domain/errors.ts'

/** A body of 10 MB can hold five million values, and everything that looks at each of them would hold the loop for seconds. */
export const MAX_VALUES = 100_000
/** Whatever walks a value may do so recursively. */
export const MAX_DEPTH = 100

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** `{` and `[` without the bit that tells them apart. `}` and `]` likewise. */
const OPEN = 0x5b
const CLOSE = 0x5d
const SAME_BRACKET = 0xff ^ 0x20

export class JsonMeter {
  #values = 1
  #depth = 0
  #inString = false
  #isEscaped = false
  /** A bracket was opened, and nothing has been seen in it. */
  #isEmpty = false

  /** Throws `body_too_large` for too many values and `malformed_json` for too many levels, as soon as there is one too many. */
  take(chunk: Uint8Array): void {
    // Every byte of every body passes here, and a local costs less than a field.
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
    `The body holds more than ${MAX_VALUES.toLocaleString('en')} JSON values. Send less at once.`,
    { details: { max_values: MAX_VALUES } },
  )
