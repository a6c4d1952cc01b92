import { describe, expect, test } from 'vitest'
import { sseComment, sseFrame } from './sse.ts'

describe('server-sent events', () => {
  test('a frame has its id, its event and its data, ended by LF', () => {
    expect(sseFrame({ id: '01J.7', event: 'error', data: '{"a":1}' })).toBe(
      'id: 01J.7\nevent: error\ndata: {"a":1}\n\n',
    )
  })

  test('a frame with only data has no other field', () => {
    expect(sseFrame({ data: '{}' })).toBe('data: {}\n\n')
  })

  test('line breaks of any kind in data become several data lines', () => {
    expect(sseFrame({ data: 'a\nb\r\nc\rid: 9' })).toBe('data: a\ndata: b\ndata: c\ndata: id: 9\n\n')
  })

  test.each(['a\nid: 9', 'a\rb', 'a\0'])('refuses %j as an id, an event or a comment', (text) => {
    expect(() => sseFrame({ id: text, data: '' })).toThrow('line break')
    expect(() => sseFrame({ event: text, data: '' })).toThrow('line break')
    expect(() => sseComment(text)).toThrow('line break')
  })
})
