import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextSniffer } from './sniff-text.ts'

function sniffed(bytes: Uint8Array, pieces: number = bytes.length): 'text' | 'unknown encoding' | 'not text' {
  const sniffer = createTextSniffer()
  for (let i = 0; i < bytes.length; i += pieces) if (!sniffer.take(bytes.subarray(i, i + pieces))) return 'not text'
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
  ['UTF-16 without a mark', Buffer.from('hello', 'utf16le')],
  ['a letter of a Russian in KOI8-R', latin1('\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2!')],
  [
    'a stray control character',
    Buffer.from(`a line of a log\n${'another line of the log\n'.repeat(9)}\x01 and \0 the end`),
  ],
  ['Windows quotes', latin1('He said \x93hello\x94 \x96 and left.')],
])('%s is text, in one piece or byte by byte', (_what, bytes) => {
  expect(sniffed(bytes)).toBe('text')
  expect(sniffed(bytes, 1)).toBe('text')
})

test.each<[string, Uint8Array]>([
  ['nothing', Buffer.alloc(0)],
  ['a zero byte', Buffer.from('hello\0world')],
  ['one zero byte', Buffer.from([0])],
  ['UTF-16 with half a character at its end', Buffer.concat([utf16('hello'), Buffer.from([0x20])])],
  ['UTF-16 with zeros', utf16('a\0b')],
  ['a machine’s bytes', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0])],
])('%s is not text', (_what, bytes) => {
  expect(sniffed(bytes)).toBe('not text')
  expect(sniffed(bytes, 3)).toBe('not text')
})

test.each<[string, Uint8Array]>([
  ['one high byte', Buffer.from([0xff])],
  ['places that no encoding uses', latin1('plain text and \x81\x8d')],
  ['German of DOS', latin1('Gr\x81\xe1e aus M\x81nchen')],
])('%s is text in an unknown encoding', (_what, bytes) => {
  expect(sniffed(bytes)).toBe('unknown encoding')
  expect(sniffed(bytes, 3)).toBe('unknown encoding')
})

test('binary data after pages of text is found', () => {
  const tail = Buffer.concat([Buffer.alloc(200_000, 'a line of text\n'), Buffer.alloc(4_000, '\0\x01\x02\x03')])

  expect(sniffed(tail, 65_536)).toBe('not text')
})

test('the result does not depend on how the bytes are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 2, max: 7 }), (bytes, pieces) => {
      expect(sniffed(bytes, pieces)).toBe(sniffed(bytes))
    }),
  )
})

test('everything that people write is text, and compressed data is not', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: people do not write these.
      fc.pre(!/[\x00-\x1f]/.test(text))
      expect(sniffed(Buffer.from(text))).toBe('text')
    }),
  )
  const noise = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919 + ((i * i) % 251)) & 0xff))
  expect(sniffed(noise)).toBe('not text')
})
