import { HttpFramingError } from './framing-error.ts'

export interface AnswerHead {
  status: number
  /** By their names in small letters; what came several times is joined with commas. */
  headers: Readonly<Record<string, string>>
  /** HTTP/1.1, not 1.0. */
  persistent: boolean
}

export interface Framing {
  /** Bytes of the body; infinite: until the connection ends. */
  length: number | 'chunked'
  /** The connection may be used again afterwards. */
  reusable: boolean
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d{2})(?: [\t -~\x80-\xff]*)?$/
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t -~\x80-\xff]*$/

/** `text` is all up to the empty line, without it. Throws `HttpFramingError`. */
export function parseHead(text: string): AnswerHead {
  const lines = text.split('\r\n')
  const start = STATUS_LINE.exec(lines[0] ?? '')
  if (start === null) throw new HttpFramingError('it does not begin like HTTP/1.1')
  const headers: Record<string, string> = Object.create(null)
  for (let i = 1; i < lines.length; i += 1) {
    const line = lines[i] ?? ''
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    const value = trimmed(line, colon + 1)
    if (!NAME.test(name) || !VALUE.test(value)) throw new HttpFramingError('a header is malformed')
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
  return { status: Number(start[2]), headers, persistent: start[1] === '1' }
}

/** Throws `HttpFramingError` for what could be read in two ways. */
export function framingOf({ status, headers, persistent }: AnswerHead): Framing {
  const connection = tokensOf(headers.connection)
  const stays = persistent ? !connection.includes('close') : connection.includes('keep-alive')
  if (status === 204 || status === 304) return { length: 0, reusable: stays }
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked') throw new HttpFramingError('its transfer coding is unknown')
    if (headers['content-length'] !== undefined) throw new HttpFramingError('its length is said in two ways')
    // HTTP/1.0 has no chunks: somebody in between may have counted otherwise.
    return { length: 'chunked', reusable: stays && persistent }
  }
  const length = headers['content-length']
  if (length === undefined) return { length: Number.POSITIVE_INFINITY, reusable: false }
  if (!/^\d{1,15}$/.test(length)) throw new HttpFramingError('its length is not clear')
  return { length: Number(length), reusable: stays }
}

/** By hand: a pattern for it takes quadratic time, and the server chooses the text. */
function trimmed(line: string, from: number): string {
  const isBlank = (at: number) => line[at] === ' ' || line[at] === '\t'
  let start = from
  let end = line.length
  while (start < end && isBlank(start)) start += 1
  while (start < end && isBlank(end - 1)) end -= 1
  return line.slice(start, end)
}

const tokensOf = (value: string | undefined): string[] =>
  value === undefined ? [] : value.split(',').map((token) => token.trim().toLowerCase())
