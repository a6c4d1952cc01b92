import { describe, expect, test } from 'vitest'
import type { ModelPart } from '../model.ts'
import { createCounter, decodeAll, payloadsOf, target } from '../testing/fixtures.ts'
import { createOpenAiDecoder } from './decode.ts'

const decode = (payloads: readonly string[]): ModelPart[] =>
  decodeAll(createOpenAiDecoder(target, createCounter()), payloads)
const fixture = (name: string) => payloadsOf(new URL(`fixtures/${name}.txt`, import.meta.url))
const chunk = (delta: unknown, finish: string | null = null): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })
const pieces = (...calls: unknown[]): string => chunk({ tool_calls: calls })

describe('OpenAI decoder', () => {
  test('reads text, then usage, then the reason, which waits for the usage', () => {
    expect(decode(fixture('text'))).toEqual([
      { type: 'text', delta: 'Grüße' },
      { type: 'text', delta: ' aus 🚢' },
      {
        type: 'usage',
        usage: { inputTokens: 16, outputTokens: 300, reasoningTokens: 0, cachedInputTokens: 8 },
      },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('reads Azure, whose first chunk has no choices and whose last is not [DONE]', () => {
    expect(decode(fixture('azure'))).toEqual([
      { type: 'text', delta: 'Paris' },
      { type: 'usage', usage: { inputTokens: 15, outputTokens: 78, reasoningTokens: 64, cachedInputTokens: 0 } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('reads DeepSeek: reasoning, and a call in pieces', () => {
    expect(decode(fixture('deepseek-tool-call'))).toEqual([
      { type: 'reasoning', delta: 'The user' },
      { type: 'reasoning', delta: ' asks.' },
      { type: 'tool_call_start', id: 'call_00', name: 'weather' },
      { type: 'tool_call_args', id: 'call_00', delta: '{"city":' },
      { type: 'tool_call_args', id: 'call_00', delta: '"Berlin"}' },
      { type: 'tool_call_end', id: 'call_00' },
      { type: 'usage', usage: { inputTokens: 339, outputTokens: 83, reasoningTokens: 39, cachedInputTokens: 320 } },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('reads Groq: `reasoning`, and usage under x_groq alone', () => {
    expect(decode(fixture('groq-reasoning'))).toEqual([
      { type: 'reasoning', delta: 'Okay' },
      { type: 'reasoning', delta: ', so' },
      { type: 'text', delta: '4' },
      { type: 'usage', usage: { inputTokens: 45, outputTokens: 6 } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('reads Mistral: content as a list of thinking and text', () => {
    expect(decode(fixture('mistral-reasoning'))).toEqual([
      { type: 'reasoning', delta: 'Two and two' },
      { type: 'reasoning', delta: ' is four.' },
      { type: 'text', delta: '2 + 2 = 4' },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 46 } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('reads Mistral: whole calls in one chunk, without an index, one without arguments', () => {
    expect(decode(fixture('mistral-tool-calls'))).toEqual([
      { type: 'tool_call_start', id: 'gSIMJiOkT', name: 'weather' },
      { type: 'tool_call_args', id: 'gSIMJiOkT', delta: '{"city": "Rome"}' },
      { type: 'tool_call_start', id: 'hTJNKjPlU', name: 'clock' },
      { type: 'tool_call_end', id: 'gSIMJiOkT' },
      { type: 'tool_call_args', id: 'hTJNKjPlU', delta: '{}' },
      { type: 'tool_call_end', id: 'hTJNKjPlU' },
      { type: 'usage', usage: { inputTokens: 124, outputTokens: 22 } },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('adds a piece with an empty name to the same call', () => {
    expect(decode(fixture('mistral-incremental-call'))).toEqual([
      { type: 'tool_call_start', id: 'tool-9f', name: 'search' },
      { type: 'tool_call_args', id: 'tool-9f', delta: '{"query": "x"}' },
      { type: 'tool_call_end', id: 'tool-9f' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('includes the reasoning of xAI in the output', () => {
    expect(decode(fixture('xai-text'))).toEqual([
      { type: 'reasoning', delta: 'Hm' },
      { type: 'text', delta: 'Hi' },
      { type: 'usage', usage: { inputTokens: 12, outputTokens: 342, reasoningTokens: 340, cachedInputTokens: 11 } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('makes an id for a call without one, and adds pieces without id and index to the last call', () => {
    const parts = decode([
      pieces({ function: { name: 'a', arguments: '{"x"' } }),
      pieces({ function: { arguments: ':1}' } }),
      pieces({ function: { name: 'b' } }),
      chunk({}, 'tool_calls'),
    ])
    expect(parts).toEqual([
      { type: 'tool_call_start', id: 'new-1', name: 'a' },
      { type: 'tool_call_args', id: 'new-1', delta: '{"x"' },
      { type: 'tool_call_args', id: 'new-1', delta: ':1}' },
      { type: 'tool_call_start', id: 'new-2', name: 'b' },
      { type: 'tool_call_end', id: 'new-1' },
      { type: 'tool_call_args', id: 'new-2', delta: '{}' },
      { type: 'tool_call_end', id: 'new-2' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('keeps calls apart whose pieces alternate', () => {
    const parts = decode([
      pieces(
        { index: 0, id: 'a', function: { name: 'x', arguments: '' } },
        { index: 1, id: 'b', function: { name: 'y' } },
      ),
      pieces({ index: 1, function: { arguments: '{"b":2}' } }, { index: 0, function: { arguments: '{"a":1}' } }),
      chunk({}, 'tool_calls'),
    ])
    expect(parts).toEqual([
      { type: 'tool_call_start', id: 'a', name: 'x' },
      { type: 'tool_call_start', id: 'b', name: 'y' },
      { type: 'tool_call_args', id: 'b', delta: '{"b":2}' },
      { type: 'tool_call_args', id: 'a', delta: '{"a":1}' },
      { type: 'tool_call_end', id: 'a' },
      { type: 'tool_call_end', id: 'b' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('keeps parallel calls apart that all have the index 0', () => {
    const parts = decode([
      pieces({ index: 0, id: 'a', function: { name: 'x', arguments: '{}' } }),
      pieces({ index: 0, id: 'b', function: { name: 'x', arguments: '{}' } }),
      chunk({}, 'stop'),
    ])
    expect(parts).toEqual([
      { type: 'tool_call_start', id: 'a', name: 'x' },
      { type: 'tool_call_args', id: 'a', delta: '{}' },
      { type: 'tool_call_start', id: 'b', name: 'x' },
      { type: 'tool_call_args', id: 'b', delta: '{}' },
      { type: 'tool_call_end', id: 'a' },
      { type: 'tool_call_end', id: 'b' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('waits for the name of a call, and accepts arguments that are an object', () => {
    const parts = decode([
      pieces({ index: 0, id: 'a', function: { arguments: '{"x":' } }),
      pieces({ index: 0, function: { name: 'late', arguments: '1}' } }),
      pieces({ index: 1, id: 'b', function: { name: 'object', arguments: { y: 2 } } }),
      chunk({}, 'tool_calls'),
    ])
    expect(parts).toEqual([
      { type: 'tool_call_start', id: 'a', name: 'late' },
      { type: 'tool_call_args', id: 'a', delta: '{"x":1}' },
      { type: 'tool_call_start', id: 'b', name: 'object' },
      { type: 'tool_call_args', id: 'b', delta: '{"y":2}' },
      { type: 'tool_call_end', id: 'a' },
      { type: 'tool_call_end', id: 'b' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('accepts [DONE] without a reason', () => {
    expect(decode([chunk({ content: 'Hi' }), '[DONE]'])).toEqual([
      { type: 'text', delta: 'Hi' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('ignores null, no choices, a null choice, unknown keys and anything after [DONE]', () => {
    const decoder = createOpenAiDecoder(target, createCounter())
    const parts: ModelPart[] = []
    const payloads = ['null', '{}', '{"choices":[null]}', '{"choices":[{"delta":null}],"odd":1}', chunk({}, 'length')]
    for (const payload of [...payloads, '[DONE]', 'not json']) decoder.decode(payload, parts)
    expect(parts).toEqual([{ type: 'finish', reason: 'length' }])
    expect(decoder.finished).toBe(true)
  })

  test.each([
    ['calls', Array.from({ length: 100_000 }, (_, index) => ({ index }))],
    ['ids', Array.from({ length: 100_000 }, (_, i) => ({ id: `c${i}`, function: { name: 'a' } }))],
    [
      'beginnings',
      Array.from({ length: 50_000 }, (_, i) => ({
        index: 0,
        function: { name: 'a', arguments: i === 0 ? `{"a":"${'x'.repeat(1_000_000)}` : '{}' },
      })),
    ],
  ])('reads %s without end in no more time than other events', (_what, many) => {
    const decoder = createOpenAiDecoder(target, createCounter())
    const before = process.threadCpuUsage()
    decoder.decode(pieces(...many), [])

    // A second or less. Searching all earlier pieces would take a minute.
    expect(process.threadCpuUsage(before).user).toBeLessThan(20_000_000)
  })

  test('reports a refusal with the words of the model', () => {
    expect(() => decode(fixture('refusal'))).toThrow(
      expect.objectContaining({
        code: 'model_refused',
        message: "The model declined to answer: I'm sorry, I can't help with that.",
      }),
    )
  })

  test('reports a content filter with its category', () => {
    expect(() => decode(fixture('azure-filtered'))).toThrow(
      expect.objectContaining({
        code: 'model_refused',
        message: 'The model declined to answer: the content filter stopped the answer (violence).',
      }),
    )
  })

  test('reports an error object in the stream', () => {
    const error = { error: { message: 'The server had an error', type: 'server_error', code: null } }
    expect(() => decode([chunk({ content: 'Hi' }), JSON.stringify(error)])).toThrow(
      expect.objectContaining({
        code: 'model_failed',
        message: 'The model server at model.test failed (500). It says: The server had an error',
        details: { provider: 'test', model: 'test-model', retryable: true, status: 500 },
      }),
    )
  })

  test('reports an error that is the whole payload', () => {
    const error = { object: 'error', message: "This model's maximum context length is 4096 tokens.", code: 400 }
    expect(() => decode([JSON.stringify(error)])).toThrow(expect.objectContaining({ code: 'model_context_overflow' }))
  })

  test('reports a stream that ends without a reason', () => {
    expect(() => decode([chunk({ content: 'Hi' })])).toThrow(
      expect.objectContaining({ code: 'model_stream_dropped', details: expect.objectContaining({ retryable: true }) }),
    )
  })

  describe('two calls with one id', () => {
    const both = [
      { type: 'tool_call_start', id: 'call_0', name: 'add' },
      { type: 'tool_call_args', id: 'call_0', delta: '{"a":1}' },
      { type: 'tool_call_start', id: 'new-1', name: 'add' },
      { type: 'tool_call_args', id: 'new-1', delta: '{"a":2}' },
      { type: 'tool_call_end', id: 'call_0' },
      { type: 'tool_call_end', id: 'new-1' },
      { type: 'finish', reason: 'tool_calls' },
    ]
    const call = (index: number | null, args: string) => ({
      ...(index === null ? {} : { index }),
      id: 'call_0',
      function: { name: 'add', arguments: args },
    })

    test.each([
      ['at different places', [pieces(call(0, '{"a":1}'), call(1, '{"a":2}'))]],
      ['at the same place', [pieces(call(0, '{"a":1}')), pieces(call(0, '{"a":2}'))]],
      ['at no place', [pieces(call(null, '{"a":1}')), pieces(call(null, '{"a":2}'))]],
    ])('%s stay two', (_, payloads) => {
      expect(decode([...payloads, chunk({}, 'tool_calls'), '[DONE]'])).toEqual(both)
    })

    test('get their own pieces when these alternate', () => {
      const piece = (index: number, args: string) => ({ index, function: { arguments: args } })
      const payloads = [
        pieces(call(0, ''), call(1, '')),
        pieces(piece(1, '{"a":')),
        pieces(piece(0, '{"a":1}'), piece(1, '2}')),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]
      const argsOf = (id: string) =>
        decode(payloads).flatMap((part) => (part.type === 'tool_call_args' && part.id === id ? [part.delta] : []))
      expect([argsOf('call_0').join(''), argsOf('new-1').join('')]).toEqual(['{"a":1}', '{"a":2}'])
    })

    test('are one call when every piece repeats the name and the id', () => {
      const payloads = [pieces(call(0, '{"a"')), pieces(call(0, ':1}')), chunk({}, 'tool_calls'), '[DONE]']
      expect(decode(payloads).filter(({ type }) => type === 'tool_call_start').length).toBe(1)
    })
  })
})
