import { describe, expect, test } from 'vitest'
import { createTextFrames } from './text-frames.ts'

const chunk = (delta: object, choice: object = {}, around: object = {}): string =>
  JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: null, ...choice }], usage: null, ...around })

/** Frames that have learned from `payload`, which holds `text`. */
function learned(payload: string, text: string) {
  const frames = createTextFrames()
  frames.learn(payload, text)
  return frames
}

describe('text frames', () => {
  test('read the text of chunks that differ only in their text', () => {
    const frames = learned(chunk({ content: 'Hello' }), 'Hello')

    for (const text of [' world', '', 'ü ⚓ 𝕏', '{}[],:', '\u2028', ' '.repeat(1000)]) {
      expect(frames.read(chunk({ content: text }))).toEqual({ type: 'text', delta: text })
    }
  })

  test('read reasoning under any of its names', () => {
    for (const delta of [
      { reasoning_content: 'Hm' },
      { reasoning: 'Hm' },
      { content: '', reasoning: 'Hm', role: 'assistant' },
    ]) {
      const frames = learned(chunk(delta), 'Hm')
      expect(
        frames.read(chunk({ ...delta, ...('reasoning' in delta ? { reasoning: 'so' } : { reasoning_content: 'so' }) })),
      ).toEqual({
        type: 'reasoning',
        delta: 'so',
      })
    }
  })

  test('leave uncertain chunks to the parser', () => {
    const frames = learned(chunk({ content: 'Hello' }), 'Hello')

    for (const payload of [
      chunk({ content: 'a"b' }),
      chunk({ content: 'a\\b' }),
      chunk({ content: 'a\nb' }),
      chunk({ content: 'a' }).replace('"a"', '"a\nb"'),
      chunk({ content: 'a' }).replace('"a"', '"a","content":"b"'),
      chunk({ content: 'a' }).replace('c1', 'c2'),
      chunk({ content: 'a' }, { finish_reason: 'stop' }),
      chunk({ content: null }),
      chunk({}),
      '[DONE]',
      '',
    ]) {
      expect([payload, frames.read(payload)]).toEqual([payload, null])
    }
  })

  test('learn nothing from a chunk with other content, or with the text in an uncertain place', () => {
    for (const [payload, text] of [
      [chunk({ content: 'a' }, { finish_reason: 'stop' }), 'a'],
      [chunk({ content: 'a' }, {}, { usage: { prompt_tokens: 1 } }), 'a'],
      [chunk({ content: 'a' }, {}, { x_groq: { usage: {} } }), 'a'],
      [chunk({ content: 'a', tool_calls: [{ index: 0 }] }), 'a'],
      [chunk({ content: 'a', refusal: '' }), 'a'],
      [chunk({ content: 'a', reasoning: 'a' }), 'a'],
      [chunk({ content: 'c1' }), 'c1'],
      [chunk({ content: ',' }), ','],
      [chunk({ content: ':' }), ':'],
      [chunk({ content: [{ type: 'text', text: 'a' }] }), 'a'],
      [`{"choices":[{"delta":{"content":"a"}},{"delta":{}}]}`, 'a'],
      [chunk({ content: 'ü' }).replace('ü', '\\u00fc'), 'ü'],
    ] as const) {
      expect([payload, learned(payload, text).read(payload)]).toEqual([payload, null])
    }
  })

  test('give up on a server whose frames are never repeated', () => {
    const frames = createTextFrames()
    for (let i = 0; i < 10; i += 1) frames.learn(chunk({ content: 'a' }, {}, { id: `c${i}` }), 'a')

    expect(frames.read(chunk({ content: 'b' }, {}, { id: 'c9' }))).toBeNull()
  })

  test('keep working after text that has to be parsed', () => {
    const frames = learned(chunk({ content: 'a' }), 'a')
    for (let i = 0; i < 10; i += 1) frames.learn(chunk({ content: 'a\n' }), 'a\n')

    expect(frames.read(chunk({ content: 'b' }))).toEqual({ type: 'text', delta: 'b' })
  })

  test('follow a server whose frame changes now and then', () => {
    const frames = createTextFrames()
    for (let second = 0; second < 20; second += 1) {
      frames.learn(chunk({ content: 'a' }, {}, { created: second }), 'a')
      for (let i = 0; i < 20; i += 1) {
        const payload = chunk({ content: `t${i}` }, {}, { created: second })
        expect(frames.read(payload)).toEqual({ type: 'text', delta: `t${i}` })
      }
    }
  })
})
