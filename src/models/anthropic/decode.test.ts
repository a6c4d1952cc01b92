import { describe, expect, test } from 'vitest'
import type { ModelPart } from '../model.ts'
import { createCounter, decodeAll, payloadsOf, target } from '../testing/fixtures.ts'
import { createAnthropicDecoder } from './decode.ts'

const decode = (payloads: readonly string[]): ModelPart[] =>
  decodeAll(createAnthropicDecoder(target, createCounter()), payloads)
const fixture = (name: string) => payloadsOf(new URL(`fixtures/${name}.txt`, import.meta.url))

const usage = (output: number): ModelPart => ({
  type: 'usage',
  usage: { inputTokens: 69, outputTokens: output, cachedInputTokens: 0, cacheWriteInputTokens: 0 },
})

describe('Anthropic decoder', () => {
  test('reads text', () => {
    expect(decode(fixture('text'))).toEqual([
      usage(2),
      { type: 'text', delta: 'Hello' },
      { type: 'text', delta: ', 🚢!' },
      usage(30),
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('includes cached tokens in the input, and keeps them when a later event has only the output', () => {
    const counts = { inputTokens: 240, cachedInputTokens: 200, cacheWriteInputTokens: 30 }
    expect(decode(fixture('cached'))).toEqual([
      { type: 'usage', usage: { ...counts, outputTokens: 2 } },
      { type: 'text', delta: 'Hi' },
      { type: 'usage', usage: { ...counts, outputTokens: 4 } },
      { type: 'finish', reason: 'length' },
    ])
  })

  test('reads thinking and its signature', () => {
    expect(decode(fixture('thinking'))).toEqual([
      usage(2),
      { type: 'reasoning', delta: '925 ÷' },
      { type: 'reasoning', delta: ' 5' },
      { type: 'reasoning_signature', signature: 'anthropic:EsIBgB==' },
      { type: 'text', delta: '185' },
      usage(53),
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('makes one signature from several blocks of thinking, including hidden ones', () => {
    const thinking = { type: 'thinking', thinking: 'Hm', signature: 'c2ln' }
    const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl' }
    expect(decode(fixture('redacted-thinking'))).toEqual([
      usage(2),
      { type: 'reasoning', delta: 'Hm' },
      { type: 'reasoning_signature', signature: 'anthropic:c2ln' },
      { type: 'reasoning_signature', signature: `anthropic:${JSON.stringify([thinking, redacted])}` },
      { type: 'tool_call_start', id: 'toolu_1', name: 'weather' },
      { type: 'tool_call_args', id: 'toolu_1', delta: '{"city": ' },
      { type: 'tool_call_args', id: 'toolu_1', delta: '"Rome"}' },
      { type: 'tool_call_end', id: 'toolu_1' },
      usage(47),
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('reads calls without arguments, and with all of them in the first event', () => {
    expect(decode(fixture('tool-no-args'))).toEqual([
      usage(2),
      { type: 'text', delta: "I'll look." },
      { type: 'tool_call_start', id: 'toolu_1', name: 'list_issues' },
      { type: 'tool_call_args', id: 'toolu_1', delta: '{}' },
      { type: 'tool_call_end', id: 'toolu_1' },
      { type: 'tool_call_start', id: 'toolu_2', name: 'open' },
      { type: 'tool_call_args', id: 'toolu_2', delta: '{"id":7}' },
      { type: 'tool_call_end', id: 'toolu_2' },
      usage(48),
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('reports a refusal with its explanation', () => {
    expect(() => decode(fixture('refusal'))).toThrow(
      expect.objectContaining({
        code: 'model_refused',
        message: 'The model declined to answer: This request was blocked under the usage policy.',
      }),
    )
  })

  test('reports an error event', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    expect(() => decode([...fixture('text').slice(0, 4), JSON.stringify(error)])).toThrow(
      expect.objectContaining({
        code: 'model_failed',
        details: { provider: 'test', model: 'test-model', retryable: true, status: 529 },
      }),
    )
  })

  test('reports a stream that ends before a reason, and accepts one that only lacks message_stop', () => {
    expect(() => decode(fixture('text').slice(0, 5))).toThrow(expect.objectContaining({ code: 'model_stream_dropped' }))
    expect(decode(fixture('text').slice(0, -1)).at(-1)).toEqual({ type: 'finish', reason: 'stop' })
  })

  test('ignores events, blocks and deltas that it does not know', () => {
    const parts = decode([
      '{"type":"new_event"}',
      'null',
      '{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"x"}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}',
      '{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
      '{"type":"message_stop"}',
    ])
    expect(parts).toEqual([{ type: 'finish', reason: 'stop' }])
  })

  test('keeps two calls with one id apart, whatever comes between them', () => {
    const start = (index: number) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: 'toolu_0', name: 'add', input: {} },
    })
    const args = (index: number, partial_json: string) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    })
    const stop = (index: number) => ({ type: 'content_block_stop', index })
    const events = [start(0), start(1), args(1, '{"a":2}'), args(0, '{"a":1}'), stop(0), stop(1)]
    const end = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }]
    expect(decode([...events, ...end].map((event) => JSON.stringify(event)))).toEqual([
      { type: 'tool_call_start', id: 'toolu_0', name: 'add' },
      { type: 'tool_call_start', id: 'new-1', name: 'add' },
      { type: 'tool_call_args', id: 'new-1', delta: '{"a":2}' },
      { type: 'tool_call_args', id: 'toolu_0', delta: '{"a":1}' },
      { type: 'tool_call_end', id: 'toolu_0' },
      { type: 'tool_call_end', id: 'new-1' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })
})
