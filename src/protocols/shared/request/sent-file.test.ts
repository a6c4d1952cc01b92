import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/tier.ts'
import { LongText } from '../../../http/body/long-text.ts'
import { type Base64, decodeBase64, decodedBytes, parseDataUrl } from './sent-file.ts'

async function decode(base64: Base64): Promise<Buffer> {
  return buffer(decodeBase64(base64, '/files/0/content'))
}

test('decodes what was encoded, and knows its size before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 200_000 }), async (size) => {
      const bytes = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7919) & 0xff))
      const text = bytes.toString('base64')
      expect(decodedBytes(text)).toBe(bytes.length)
      expect((await decode(text)).equals(bytes)).toBe(true)
    }),
    { numRuns: runs(20) },
  )
})

test.each(['a', 'YQ', 'Y', 'YQ==YQ==', 'Y*==', 'YWJj\nYWJj', ' YQ==', 'YQ=a', '====', `${'A'.repeat(65_536)}*AAA`])(
  'refuses %j and says where it is',
  async (text) => {
    await expect(decode(text)).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer: '/files/0/content' }],
    })
  },
)

test.each([
  ['data:image/png;base64,AAAA', { base64: 'AAAA', mimeType: 'image/png' }],
  ['DATA:text/plain;charset=utf-8;BASE64,AAAA', { base64: 'AAAA', mimeType: 'text/plain' }],
  ['data:;base64,', { base64: '', mimeType: null }],
  ['data:text/plain,hello', null],
  ['https://example.com/a.png', null],
  ['AAAA', null],
])('reads %s', (url, parsed) => {
  expect(parseDataUrl(url)).toEqual(parsed)
})

/** As if it lay on disk. */
const onDisk = (text: string): LongText =>
  new LongText({
    chars: text.length,
    head: text.slice(0, 500),
    ending: text.slice(-2),
    sha256: '',
    fill: async (position, bytes) => void bytes.write(text.slice(position), 'latin1'),
  })

test.each([199_998, 199_999, 200_000])('decodes %d bytes that are not in memory', async (size) => {
  const bytes = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7919) & 0xff))
  const base64 = bytes.toString('base64')
  const inUrl = parseDataUrl(onDisk(`data:image/png;base64,${base64}`))

  for (const text of [onDisk(base64), inUrl?.base64 ?? '']) {
    expect(decodedBytes(text)).toBe(size)
    expect((await decode(text)).equals(bytes)).toBe(true)
  }
  expect(inUrl?.mimeType).toBe('image/png')
  expect(parseDataUrl(onDisk(base64))).toBe(null)
})

test.each([`${'A'.repeat(65_532)}A=${'A'.repeat(66_002)}`, `${'A'.repeat(80_000)}A`, `${'A'.repeat(80_000)}====`])(
  'refuses what is not in memory and no base64 (%#)',
  async (text) => {
    await expect(decode(onDisk(text))).rejects.toMatchObject({ problems: [{ pointer: '/files/0/content' }] })
  },
)
