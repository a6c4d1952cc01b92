import { StringDecoder } from 'node:string_decoder'

/** Characters of one event: enough for a whole file in the arguments of a call, and a limit on what a server makes us keep. */
export const MAX_EVENT_LENGTH = 16_000_000

export class SseEventTooLarge extends Error {
  readonly limit: number

  constructor(limit: number) {
    super(`An event of the stream is longer than ${limit} characters.`)
    this.name = 'SseEventTooLarge'
    this.limit = limit
  }
}

const LF = 10
const SPACE = 32
const COLON = 58
const BOM = 0xfeff

/** Reads server-sent events as they arrive. Only `data` matters to the model wires; names, ids and comments are dropped. */
export function createSseParser(maxEventLength = MAX_EVENT_LENGTH) {
  // Bytes may be cut inside a character. The decoder keeps the first bytes until the rest arrives.
  const decoder = new StringDecoder('utf8')
  let started = false
  let afterCr = false
  let line = ''
  let data: string | null = null
  /** Characters since the last payload that belong to no payload. They count too, because comments may be sent without end. */
  let ignored = 0

  const bound = (text: string) => {
    if (text.length + (data?.length ?? 0) + ignored > maxEventLength) throw new SseEventTooLarge(maxEventLength)
  }

  const ignore = (text: string) => {
    ignored += text.length + 1
    bound('')
  }

  const takeLine = (text: string, into: string[]) => {
    if (text === '') {
      // The standard ignores events without content. Some servers send them to keep the connection open.
      if (data === null || data === '') {
        data = null
        return ignore(text)
      }
      into.push(data)
      data = null
      ignored = 0
      return
    }
    bound(text)
    if (!text.startsWith('data')) return ignore(text)
    let value = ''
    if (text.charCodeAt(4) === COLON) value = text.slice(text.charCodeAt(5) === SPACE ? 6 : 5)
    else if (text.length > 4) return ignore(text)
    data = data === null ? value : `${data}\n${value}`
  }

  const take = (chunk: string, into: string[]) => {
    if (chunk === '') return
    let text = chunk
    if (!started) {
      started = true
      if (text.charCodeAt(0) === BOM) text = text.slice(1)
    }
    if (afterCr && text.charCodeAt(0) === LF) text = text.slice(1)
    afterCr = false
    if (text.includes('\r')) {
      afterCr = text.endsWith('\r')
      text = text.replace(/\r\n?/g, '\n')
    }
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const piece = text.slice(start, end)
      start = end + 1
      if (line === '') {
        takeLine(piece, into)
      } else {
        const whole = line + piece
        line = ''
        takeLine(whole, into)
      }
    }
    if (start < text.length) {
      line += text.slice(start)
      bound(line)
    }
  }

  return {
    /** Adds the payload of every event that these bytes complete. Throws `SseEventTooLarge`, wherever the bytes are cut. */
    push: (bytes: Buffer, into: string[]) => take(decoder.write(bytes), into),
    /** The stream has ended. Unlike a browser, it keeps a last event without a blank line, because some servers forget the line. */
    end(into: string[]): void {
      take(decoder.end(), into)
      if (line !== '') takeLine(line, into)
      line = ''
      takeLine('', into)
    },
  }
}
