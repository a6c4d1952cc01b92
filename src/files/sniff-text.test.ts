import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextSniffer } from './sniff-text.ts'

function isText(bytes: Uint8Array, pieces: number = bytes.length): boolean {
  const sniffer = createTextSniffer()
  for (let i = 0; i < bytes.length; i += pieces) if (!sniffer.take(bytes.subarray(i, i + pieces))) return false
  return sniffer.end()
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

test.each<[string, Uint8Array]>([
  ['plain letters', Buffer.from('Hello\r\n\tworld\f\v\n')],
  ['one letter', Buffer.from('x')],
  ['UTF-8', Buffer.from('grüße, 東京, 😀')],
  ['UTF-8 with a mark', Buffer.from('\ufeffgrüße')],
  ['mostly letters beyond ASCII, as UTF-8', Buffer.from('東京都港区')],
  ['colours of a terminal', Buffer.from('\x1b[31mred\x1b[0m')],
  ['the end of a file of old', Buffer.from('text\r\n\x1a')],
  ['UTF-16, little end first', utf16('grüße 😀')],
  ['UTF-16, big end first', utf16('grüße 😀').swap16()],
  ['Latin-1', latin1('Sehr geehrte Damen und Herren, die Grüße überbrachte Frau Müßig.')],
  ['Windows quotes', latin1('He said \x93hello\x94 \x96 and left.')],
])('%s: text, in one piece or byte by byte', (_what, bytes) => {
  expect(isText(bytes)).toBe(true)
  expect(isText(bytes, bytes[0] === 0xff || bytes[0] === 0xfe ? 2 : 1)).toBe(true)
})

test.each<[string, Uint8Array]>([
  ['nothing', Buffer.alloc(0)],
  ['a zero byte', Buffer.from('hello\0world')],
  ['one zero byte', Buffer.from([0])],
  ['one high byte', Buffer.from([0xff])],
  ['UTF-16 without a mark', Buffer.from('hello', 'utf16le')],
  ['UTF-16 with half a character at its end', Buffer.concat([utf16('hello'), Buffer.from([0x20])])],
  ['UTF-16 with zeros', utf16('a\0b')],
  ['a machine’s bytes', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0])],
  ['a letter of a Russian in KOI8-R', latin1('\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2!')],
  ['places that no encoding uses', latin1('plain text and \x81\x8d')],
])('%s: no text', (_what, bytes) => {
  expect(isText(bytes)).toBe(false)
  expect(isText(bytes, 3)).toBe(false)
})

test('a binary tail behind pages of text is found', () => {
  const tail = Buffer.concat([Buffer.alloc(200_000, 'a line of text\n'), Buffer.from([0, 1, 2, 3])])

  expect(isText(tail, 65_536)).toBe(false)
})

test('how it is cut does not matter', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 2, max: 7 }), (bytes, pieces) => {
      expect(isText(bytes, pieces)).toBe(isText(bytes))
    }),
  )
})

test('all that people write is text, and what a compressor writes is not', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what people do not write.
      fc.pre(!/[\x00-\x1f]/.test(text))
      expect(isText(Buffer.from(text))).toBe(true)
    }),
  )
  const noise = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919 + ((i * i) % 251)) & 0xff))
  expect(isText(noise)).toBe(false)
})
