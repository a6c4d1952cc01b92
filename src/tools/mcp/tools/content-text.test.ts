import { describe, expect, test } from 'vitest'
import { contentText, MAX_RESULT_CHARS } from './content-text.ts'

describe('contentText', () => {
  test('joins texts, describes images and sound, and opens text resources', () => {
    const text = contentText(
      [
        { type: 'text', text: 'before' },
        { type: 'image', data: Buffer.alloc(2_500).toString('base64'), mimeType: 'image/png' },
        { type: 'audio', data: Buffer.alloc(10).toString('base64'), mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside a.txt' } },
        { type: 'resource', resource: { uri: 'file:///b.bin', blob: Buffer.alloc(3_000_000).toString('base64') } },
        { type: 'resource_link', uri: 'file:///c', name: 'c', mimeType: 'text/csv' },
      ],
      { ignored: 'because there is text' },
    )

    expect(text).toBe(
      [
        'before',
        '[image: image/png, 2.5 kB]',
        '[audio: audio/wav, 10 bytes]',
        'inside a.txt',
        '[resource: file:///b.bin, unknown type, 3.0 MB]',
        '[resource: c, file:///c, text/csv]',
      ].join('\n'),
    )
  })

  test('shows structured content when there is no text', () => {
    expect(contentText([], { sum: 3 })).toBe('{"sum":3}')
    expect(contentText([{ type: 'image', data: 'AAAA', mimeType: 'image/gif' }], { sum: 3 })).toBe(
      '[image: image/gif, 3 bytes]\n{"sum":3}',
    )
  })

  test('says when there is nothing, and when there is too much', () => {
    expect(contentText([], undefined)).toBe('[no content]')

    const long = contentText([{ type: 'text', text: 'x'.repeat(MAX_RESULT_CHARS + 5) }], undefined)
    expect(long.slice(MAX_RESULT_CHARS)).toBe('\n[cut here: the whole text has 1000005 characters]')
  })
})
