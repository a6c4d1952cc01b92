import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseParser, SseEventTooLarge } from './sse-parser.ts'

function parse(...chunks: (string | Buffer)[]): string[] {
  const parser = createSseParser()
  const payloads: string[] = []
  for (const chunk of chunks) parser.push(Buffer.from(chunk), payloads)
  parser.end(payloads)
  return payloads
}

describe('SSE parser', () => {
  test('reads lines that end with LF, CRLF or CR', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      expect(parse(`data: one${end}${end}data: two${end}${end}`)).toEqual(['one', 'two'])
    }
  })

  test('reads a CRLF that is cut in two as one line end', () => {
    expect(parse('data: a\r', '\ndata: b\r', '\n\r', '\ndata: c\n\n')).toEqual(['a\nb', 'c'])
  })

  test('drops comments, names, ids and unknown fields', () => {
    expect(parse(': ping\nevent: delta\nid: 7\nretry: 10\ndatabase: no\ndata: yes\n\n: bye\n\n')).toEqual(['yes'])
  })

  test('joins several data lines and removes only one space', () => {
    expect(parse('data:a\ndata:  b\ndata\ndata: c\n\n')).toEqual(['a\n b\n\nc'])
  })

  test('ignores an event without content', () => {
    expect(parse('data:\n\ndata: one\n\ndata\n\n: ping\n\ndata: \n\ndata: two\n\ndata:')).toEqual(['one', 'two'])
  })

  test('passes [DONE] on as it is', () => {
    expect(parse('data: {}\n\ndata: [DONE]\n\n')).toEqual(['{}', '[DONE]'])
  })

  test('gives an event as soon as its blank line has come, not before', () => {
    const parser = createSseParser()
    const payloads: string[] = []
    parser.push(Buffer.from('data: one\n'), payloads)
    expect(payloads).toEqual([])
    parser.push(Buffer.from('\ndata: tw'), payloads)
    expect(payloads).toEqual(['one'])
  })

  test('keeps a last event whose blank line, or line end, is missing', () => {
    expect(parse('data: one\n\ndata: two\n')).toEqual(['one', 'two'])
    expect(parse('data: one\n\ndata: two')).toEqual(['one', 'two'])
  })

  test('skips a byte order mark at the beginning', () => {
    expect(parse('\ufeffdata: one\n\n')).toEqual(['one'])
  })

  test('gives the same payloads wherever the bytes are cut, even inside a character', () => {
    const line = fc
      .string({ unit: 'binary', maxLength: 20 })
      .map((text) => text.replaceAll(/[\r\n]/g, '').toWellFormed())
    const events = fc.array(line, { maxLength: 6 })
    fc.assert(
      fc.property(events, fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat(400)), (payloads, end, cuts) => {
        const bytes = Buffer.from(payloads.map((payload) => `data: ${payload}${end}${end}`).join(''))
        const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b)
        const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
        expect(parse(...chunks)).toEqual(payloads.filter((payload) => payload !== ''))
      }),
    )
  })

  test('accepts an event up to the limit and refuses a longer one, wherever the bytes are cut', () => {
    const longest = 50
    const event = fc.array(fc.string({ unit: fc.constantFrom('x', 'ü'), maxLength: 60 }), {
      minLength: 1,
      maxLength: 3,
    })
    fc.assert(
      fc.property(event, fc.array(fc.nat(300)), (lines, cuts) => {
        const bytes = Buffer.from(`${lines.map((line) => `data: ${line}\n`).join('')}\n`)
        const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b)
        const outcomeOf = (chunks: Buffer[]) => {
          const parser = createSseParser(longest)
          const payloads: string[] = []
          try {
            for (const chunk of chunks) parser.push(chunk, payloads)
            return payloads
          } catch (error) {
            return error instanceof SseEventTooLarge ? 'too large' : error
          }
        }
        const cut = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
        const whole = outcomeOf([bytes])
        expect(outcomeOf(cut)).toEqual(whole)
        const payload = lines.join('\n')
        if (payload.length > longest) expect(whole).toBe('too large')
        if (payload.length <= longest - 'data: '.length) expect(whole).toEqual(payload === '' ? [] : [payload])
      }),
    )
  })

  test('refuses an event that grows beyond the limit, on one line or on many', () => {
    const grow = (chunk: string) => {
      const parser = createSseParser(1000)
      for (let count = 0; count < 200; count += 1) parser.push(Buffer.from(chunk), [])
    }
    expect(() => grow('data: 0123456789')).toThrow(SseEventTooLarge)
    expect(() => grow('data: 0123456789\n')).toThrow(SseEventTooLarge)
    expect(() => grow('data: 0123456789\n\n')).not.toThrow()
  })
})
