import { expect, test } from 'vitest'
import { HEAD_BYTES, headBytes, isOleContainer, sniffSignature } from './type-sniffer.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
  ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF\0\x01'],
  ['image/jpeg', '\xff\xd8\xff\xdb'],
  ['image/gif', 'GIF87a\x01\0\x01\0\0\0'],
  ['image/gif', 'GIF89a\x01\0\x01\0\0\0'],
  ['image/webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ['application/pdf', '%PDF-1.7\n%\xe2\xe3'],
  ['application/pdf', '\xef\xbb\xbf%PDF-1.4\n'],
  ['application/pdf', '\r\n\r\n%PDF-1.7\n'],
  ['zip', 'PK\x03\x04\x14\0\x06\0'],
] as const)('%s is known by its first bytes', (type, head) => {
  expect(sniffSignature(bytes(head))).toBe(type)
  expect(sniffSignature(bytes(head).subarray(0, HEAD_BYTES))).toBe(type)
})

test.each([
  ['nothing', ''],
  ['one byte', 'P'],
  ['half a signature', '\x89PNG\r\n'],
  ['sound in the container of WebP', 'RIFF\x24\0\0\0WAVEfmt '],
  ['a GIF of no known version', 'GIF88a\x01\0\x01\0\0\0'],
  ['an empty archive', 'PK\x05\x06\0\0\0\0'],
  ['a PDF behind something else', 'x%PDF-1.7\n'],
  ['blank lines alone', '\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n'],
  ['a printer job in another language', '\x1b%-12345X@PJL ENTER LANGUAGE=POSTSCRIPT\n%!PS'],
  ['an archive behind something else', 'MZPK\x03\x04'],
  ['words', 'Dear Sir or Madam'],
])('%s has no known signature', (_what, head) => {
  expect(sniffSignature(bytes(head))).toBe(null)
})

test('a PDF is recognized after printer commands', () => {
  const job = bytes(`\x1b%-12345X@PJL JOB\r\n${'@PJL SET COPIES=1\r\n'.repeat(9)}@PJL ENTER LANGUAGE=PDF\r\n%PDF-1.4\n`)

  expect(headBytes(job.subarray(0, HEAD_BYTES))).toBeGreaterThan(job.length)
  expect(sniffSignature(job)).toBe('application/pdf')
})

test('only the first bytes count', () => {
  expect(sniffSignature(bytes('%PDF-1.7\nPK\x03\x04word/document.xml'))).toBe('application/pdf')
  expect(sniffSignature(bytes('PK\x03\x04\x14\0\0\0\0\0%PDF-1.7'))).toBe('zip')
  expect(sniffSignature(bytes('GIF89a/*\0\0\0*/=1;alert(1)'))).toBe('image/gif')
})

test('old and locked Office documents are recognized', () => {
  expect(isOleContainer(bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'))).toBe(true)
  expect(isOleContainer(bytes('\xd0\xcf\x11'))).toBe(false)
})
