import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { ServerError } from '../../domain/errors.ts'
import { LongStringCutter } from './long-string-cutter.ts'

/** A small number, so that a test can try many cases. */
const LONG_CHARS = 600
const MARK = 'f00d'.repeat(8)

function cut(chunks: Iterable<Buffer>, limits: { maxBytes?: number; maxTextChars?: number } = {}) {
  const aside: Buffer[] = []
  const cutter = new LongStringCutter({
    maxBytes: 100_000_000,
    maxTextChars: 100_000_000,
    textTooLong: () => new ServerError('file_too_large', 'too long'),
    longChars: LONG_CHARS,
    mark: MARK,
    aside: (bytes) => aside.push(bytes),
    ...limits,
  })
  for (const chunk of chunks) cutter.take(chunk)
  const bytes = Buffer.concat(aside)
  const texts = new Map(
    cutter.cuts.map((one) => [one.placeholder, bytes.toString('latin1', one.start, one.start + one.chars)]),
  )
  return { cuts: cutter.cuts, rest: cutter.rest.toString(), texts }
}

/** The value, and the strings that were cut out of it. */
function read(chunks: Iterable<Buffer>) {
  const { cuts, rest, texts } = cut(chunks)
  const value: unknown = JSON.parse(rest, (_key, one) => (typeof one === 'string' ? (texts.get(one) ?? one) : one))
  return { value, cut: [...texts.values()], cuts }
}

/** Copies, because the cutter overwrites its input. */
const whole = (text: string): Buffer[] => [Buffer.from(text)]
function* byteByByte(text: string): Generator<Buffer> {
  for (const byte of Buffer.from(text)) yield Buffer.of(byte)
}
function* splitAt(text: string, sizes: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const base64 = (chars: number, seed = 1): string =>
  Buffer.from(Array.from({ length: Math.ceil((chars * 3) / 4) }, (_, i) => (i * 7919 + seed * 31) & 0xff))
    .toString('base64')
    .slice(0, chars)

const IS_LONG_BASE64 = /^(?:data:[ -+\--:<-~]*(?:;[ -+\--:<-~]*)*;base64,)?[A-Za-z0-9+/=]*$/i
const isCut = (text: string): boolean => text.length > LONG_CHARS && IS_LONG_BASE64.test(text)

/** As JSON libraries write it: plain, with PHP's slashes, like .NET, or fully escaped. */
const spellings: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  (text) => JSON.stringify(text).replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
  (text) => `"${Array.from({ length: text.length }, (_, i) => hex(text.charCodeAt(i))).join('')}"`,
]
const hex = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`

const length = fc.oneof(
  fc.integer({ min: LONG_CHARS - 3, max: LONG_CHARS + 3 }),
  fc.integer({ min: 0, max: 3 * LONG_CHARS }),
)
const longText = fc.oneof(
  fc.tuple(length, fc.nat(99)).map(([chars, seed]) => base64(chars, seed)),
  fc
    .tuple(length, fc.constantFrom('image/png', 'text/plain;charset=utf-8'))
    .map(([chars, type]) => `data:${type};base64,${base64(chars)}`),
  length.map((chars) => `data:,${base64(chars)}`),
  length.map((chars) => 'words "and" \\ words, '.repeat(chars / 20)),
  length.map((chars) => 'grüße 😀'.repeat(chars / 9)),
  length.map((chars) => ` ${base64(chars)}`),
)
const spelled = fc.tuple(longText, fc.constantFrom(...spellings)).map(([text, spell]) => spell(text))
const body = fc
  .tuple(fc.array(spelled, { minLength: 1, maxLength: 3 }), fc.json(), fc.json())
  .map(([texts, one, other]) => `{"a":${one},"b":[${texts.join(' , ')}],"c":{"d":[${texts[0]},${other}]}}`)

const stringsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsIn)
      : []

test('cutting out and putting back gives what JSON.parse reads, however the body is split', () => {
  fc.assert(
    fc.property(body, fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), (text, sizes) => {
      const value: unknown = JSON.parse(text)
      const long = stringsIn(value).filter(isCut).toSorted()
      for (const chunks of [whole(text), splitAt(text, sizes), byteByByte(text)]) {
        const found = read(chunks)
        expect(JSON.stringify(found.value)).toBe(JSON.stringify(value))
        expect(found.cut.toSorted()).toEqual(long)
      }
    }),
    { numRuns: runs(150) },
  )
})

test('reports what is needed about a text without reading it again', () => {
  const text = `data:image/png;base64,${base64(701)}=`
  const { cuts } = cut(whole(`[1,${JSON.stringify(text).replaceAll('/', '\\/')}]`))

  expect(cuts).toEqual([
    {
      placeholder: `${MARK}0`,
      start: 0,
      chars: text.length,
      head: text.slice(0, 500),
      ending: text.slice(-2),
      sha256: createHash('sha256').update(text).digest('hex'),
      sentChars: text.length + text.split('/').length - 1,
    },
  ])
})

describe('a text that stops being base64', () => {
  const long = base64(LONG_CHARS + 1)
  const refusals = (inside: string): string[] =>
    [whole(`["${inside}"]`), byteByByte(`["${inside}"]`), splitAt(`["${inside}"]`, [1000, 7])].map((chunks) => {
      try {
        return read(chunks).cut.length === 0 ? 'kept' : 'cut'
      } catch (error) {
        return error instanceof ServerError ? error.code : error instanceof SyntaxError ? error.name : String(error)
      }
    })
  const all = (word: string) => [word, word, word]

  test.each([' ', '\\n', '\\"', '\\\\', '-', 'ü', '\\u0020', '\\u00e4'])(
    'is refused at %j after it was set aside, and is an ordinary text before',
    (other) => {
      expect(refusals(long + other)).toEqual(all('invalid_request'))
      expect(refusals(other + long)).toEqual(all('kept'))
      expect(refusals(long.slice(1) + other)).toEqual(all('kept'))
    },
  )

  test.each(['\\u002g', '\\u00'])('is refused for the invalid escape %j', (other) => {
    expect(refusals(long + other)).toEqual(all('invalid_request'))
    expect(refusals(long.slice(1) + other)).toEqual(all('SyntaxError'))
  })

  test('may be a data: URL with a head of up to 500 characters that says base64', () => {
    expect(refusals(`data:text/plain,${long}`)).toEqual(all('kept'))
    expect(refusals(`data:${'x'.repeat(600)};base64,${long}`)).toEqual(all('kept'))
    expect(refusals(`data:text/plain;base64,${long}`)).toEqual(all('cut'))
  })
})

describe('hostile bodies', () => {
  const long = base64(LONG_CHARS + 1)

  test('quotes and backslashes at every boundary are read correctly', () => {
    const text = JSON.stringify([
      '\\',
      '\\"',
      '"',
      '\\\\"\\',
      `"${long}`,
      `${'\\'.repeat(9)}"`,
      { '\\"': long, '"': 1 },
    ])

    for (let size = 1; size < 40; size += 1) {
      const { value, cut: found } = read(splitAt(text, [size]))
      expect(JSON.stringify(value) === text).toBe(true)
      expect(found.length).toBe(1)
    }
  })

  test.each([
    ['a string without an end', `{"a":"${long}`],
    ['a string that ends in a backslash', `{"a":"${long}\\`],
    ['half an escape', `{"a":"abc\\u00`],
  ])('%s is not JSON', (_what, text) => {
    for (const chunks of [whole(text), splitAt(text, [999])]) {
      expect(() => JSON.parse(cut(chunks).rest)).toThrow(SyntaxError)
    }
  })

  test('as many long strings as fit into a request are all cut out', () => {
    const one = `"${base64(64 * 1024 + 1)}",`
    let bytes = 0
    const cutter = new LongStringCutter({
      maxBytes: 1_000_000,
      maxTextChars: 100_000,
      textTooLong: () => new ServerError('file_too_large', 'too long'),
      longChars: 64 * 1024,
      mark: MARK,
      aside: (text) => {
        bytes += text.length
      },
    })

    for (let i = 0; i < 2_000; i += 1) cutter.take(Buffer.from(one, 'latin1'))

    expect(bytes).toBe(2_000 * (64 * 1024 + 1))
    expect(cutter.rest.length).toBeLessThan(2_000 * 42)
  })

  test.each(['""', '"\\\\"', '\\"', '"a', '\\u0022'])('a megabyte of %s is read quickly', (piece) => {
    const text = `${piece.repeat(1_000_000 / piece.length)}\\`
    const before = process.threadCpuUsage()

    cut(whole(text))

    expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000)
  })
})

describe('limits', () => {
  const codeOf = (chunks: Iterable<Buffer>, limits: Parameters<typeof cut>[1]) => {
    try {
      cut(chunks, limits)
    } catch (error) {
      return error instanceof ServerError ? error.code : String(error)
    }
    return null
  }

  test('everything except the long texts has the limit of any body, to the byte', () => {
    const files = `"${base64(8_000)}"`
    const placeholder = MARK.length + 1
    const text = (other: number) => `[${files},"${' '.repeat(other)}"]`
    const at = 10_000 - placeholder - '["",""]'.length

    for (const split of [whole, byteByByte]) {
      expect(codeOf(split(text(at)), { maxBytes: 10_000 })).toBe(null)
      expect(codeOf(split(text(at + 1)), { maxBytes: 10_000 })).toBe('body_too_large')
    }
    // Refused before it ends, and before all of it has arrived.
    expect(codeOf(splitAt(`["${' '.repeat(100_000)}`, [1000]), { maxBytes: 10_000 })).toBe('body_too_large')
  })

  test('a text is refused at the first character over the limit; its data: head does not count', () => {
    for (const head of ['', 'data:image/png;base64,']) {
      const text = (chars: number) => `["${head}${base64(chars)}`
      expect(codeOf(splitAt(text(10_000), [999]), { maxTextChars: 10_000 })).toBe(null)
      expect(codeOf(splitAt(text(10_001), [999]), { maxTextChars: 10_000 })).toBe('file_too_large')
    }
  })
})
