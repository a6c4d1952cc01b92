import { describe, expect, test } from 'vitest'
import type { ModelPart } from '../model.ts'
import { createCounter, decodeAll, payloadsOf, target } from '../testing/fixtures.ts'
import { createGoogleDecoder } from './decode.ts'

const decode = (payloads: readonly string[]): ModelPart[] =>
  decodeAll(createGoogleDecoder(target, createCounter()), payloads)
const fixture = (name: string) => payloadsOf(new URL(`fixtures/${name}.txt`, import.meta.url))

const usage = (output: number, cached?: number): ModelPart => ({
  type: 'usage',
  usage: {
    inputTokens: 9,
    outputTokens: output,
    reasoningTokens: 185,
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
  },
})

describe('Gemini decoder', () => {
  test('reads text, usage that includes thoughts, and the signature at the end', () => {
    expect(decode(fixture('text'))).toEqual([
      { type: 'text', delta: 'There are' },
      usage(190),
      { type: 'text', delta: ' **3**' },
      usage(208),
      { type: 'reasoning_signature', signature: 'google:EqsF' },
      usage(208, 4),
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('tells thoughts from text, and skips usage without counts', () => {
    expect(decode(fixture('thoughts'))).toEqual([
      { type: 'reasoning', delta: '**Counting**\n' },
      { type: 'text', delta: 'Three' },
      { type: 'text', delta: '.' },
      usage(190),
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('reads calls, with and without an id, and the signature of the first', () => {
    expect(decode(fixture('tool-call'))).toEqual([
      { type: 'tool_call_start', id: 'new-1', name: 'weather', signature: 'google:EpEg' },
      { type: 'tool_call_args', id: 'new-1', delta: '{"city":"Rome"}' },
      { type: 'tool_call_end', id: 'new-1' },
      { type: 'tool_call_start', id: 'fc-2', name: 'clock' },
      { type: 'tool_call_args', id: 'fc-2', delta: '{}' },
      { type: 'tool_call_end', id: 'fc-2' },
      usage(190),
      usage(190),
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('collects arguments that come as values at paths, and gives {} when there are none', () => {
    const args = '{"id":"AB","size":{"rows":3},"tags":["x",true],"none":null,"empty":[],"__proto__":{"x":1}}'
    expect(decode(fixture('partial-args'))).toEqual([
      { type: 'tool_call_start', id: 'new-1', name: 'read_theme', signature: 'google:AY89' },
      { type: 'tool_call_args', id: 'new-1', delta: '{}' },
      { type: 'tool_call_end', id: 'new-1' },
      { type: 'tool_call_start', id: 'new-2', name: 'read_screen' },
      { type: 'tool_call_args', id: 'new-2', delta: args },
      { type: 'tool_call_end', id: 'new-2' },
      usage(190),
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('finishes only when the stream ends, because some models send a reason with every chunk', () => {
    const chunk = (text: string) =>
      JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] })
    expect(decode([chunk('a'), chunk('b')])).toEqual([
      { type: 'text', delta: 'a' },
      { type: 'text', delta: 'b' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('says length for MAX_TOKENS', () => {
    expect(decode(['{"candidates":[{"finishReason":"MAX_TOKENS"}]}'])).toEqual([{ type: 'finish', reason: 'length' }])
  })

  test('reports a filter with its category, and a blocked prompt', () => {
    expect(() => decode(fixture('safety'))).toThrow(
      expect.objectContaining({
        code: 'model_refused',
        message:
          'The model declined to answer: its filter stopped the answer (SAFETY, HARM_CATEGORY_DANGEROUS_CONTENT).',
      }),
    )
    expect(() => decode(fixture('blocked-prompt'))).toThrow(
      expect.objectContaining({
        code: 'model_refused',
        message: 'The model declined to answer: the prompt was blocked (PROHIBITED_CONTENT).',
      }),
    )
  })

  test('reports a call that the model could not form, an error object, and a stream without a reason', () => {
    expect(() => decode(['{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}'])).toThrow(
      expect.objectContaining({ code: 'model_failed' }),
    )
    expect(() => decode(['{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}'])).toThrow(
      expect.objectContaining({
        code: 'model_failed',
        details: { provider: 'test', model: 'test-model', retryable: true, status: 503 },
      }),
    )
    expect(() => decode(['null', '{}', '{"candidates":[{"content":{}}]}'])).toThrow(
      expect.objectContaining({ code: 'model_stream_dropped' }),
    )
  })
})
