import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Model, ModelMessage, ModelPart, ModelRequest } from '../model.ts'
import { collect, emptyRequest, failureFrom } from '../testing/fixtures.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { loadScript, readScript, type ScriptedAnswer } from './script.ts'

const never = new AbortController().signal
const clock = createManualClock()
const scripted = (answers: ScriptedAnswer[], loop = false): Model => scriptedModel({ answers, clock, loop })
const asking = (...messages: ModelMessage[]): ModelRequest => ({ ...emptyRequest, messages })
const user = (content: string): ModelMessage => ({ role: 'user', content })
const result = (toolName: string, content: string): ModelMessage => ({
  role: 'tool',
  toolCallId: 'c',
  toolName,
  content,
  isError: false,
})

async function textOf(model: Model, request = emptyRequest): Promise<string> {
  const parts = await collect(model, request, never)
  return parts.flatMap((part) => (part.type === 'text' ? [part.delta] : [])).join('')
}

const say = (text: string, more: Partial<ScriptedAnswer> = {}): ScriptedAnswer => ({ parts: [{ text }], ...more })

describe('scripted model', () => {
  test('plays every kind of part, each separately', async () => {
    const model = scripted([
      {
        parts: [
          { reasoning: 'Hm', signature: 'proof' },
          { text: 'a', repeat: 2 },
          { tool_call: { name: 'x', arguments: { b: 1 } } },
          { tool_call: { name: 'y', arguments: '{broken', id: 'mine', signature: 's' } },
          { tool_call: { name: 'z' } },
          { usage: { input: 1, output: 2, reasoning: 3, cached: 4 } },
        ],
      },
    ])
    const batches: (readonly ModelPart[])[] = []
    await model.stream(emptyRequest, never, (parts) => {
      batches.push(parts)
    })
    expect(batches).toEqual([
      [{ type: 'reasoning', delta: 'Hm' }],
      [{ type: 'reasoning_signature', signature: 'proof' }],
      [{ type: 'text', delta: 'a' }],
      [{ type: 'text', delta: 'a' }],
      [
        { type: 'tool_call_start', id: 'call_1', name: 'x' },
        { type: 'tool_call_args', id: 'call_1', delta: '{"b":1}' },
        { type: 'tool_call_end', id: 'call_1' },
      ],
      [
        { type: 'tool_call_start', id: 'mine', name: 'y', signature: 's' },
        { type: 'tool_call_args', id: 'mine', delta: '{broken' },
        { type: 'tool_call_end', id: 'mine' },
      ],
      [
        { type: 'tool_call_start', id: 'call_2', name: 'z' },
        { type: 'tool_call_args', id: 'call_2', delta: '{}' },
        { type: 'tool_call_end', id: 'call_2' },
      ],
      [{ type: 'usage', usage: { inputTokens: 1, outputTokens: 2, reasoningTokens: 3, cachedInputTokens: 4 } }],
      [{ type: 'finish', reason: 'tool_calls' }],
    ])
  })

  test('gives the answers in order and says so when they are used up', async () => {
    const model = scripted([say('one'), say('two')])
    expect([await textOf(model), await textOf(model)]).toEqual(['one', 'two'])
    expect(await failureFrom(textOf(model))).toMatchObject({
      code: 'model_failed',
      message:
        'The script script has no answer for this request: its 2 answers in order are used up and no `when` matches. Add an answer, or write loop: true.',
    })
    const loop = scripted([say('one'), say('two')], true)
    expect([await textOf(loop), await textOf(loop), await textOf(loop)]).toEqual(['one', 'two', 'one'])
  })

  test('prefers an answer whose when matches the newest message', async () => {
    const model = scripted([
      say('next'),
      say('it is weather', { when: 'WEATHER' }),
      say('tool said', { when: { tool: 'look' } }),
      say('for Ada', { when: { user: 'ada' } }),
    ])
    expect(await textOf(model, asking(user('The weather?')))).toBe('it is weather')
    expect(await textOf(model, asking(user('The weather?')))).toBe('it is weather')
    expect(await textOf(model, asking(user('weather'), result('look', 'sunny')))).toBe('tool said')
    expect(await textOf(model, asking(user('I am Ada'), result('other', 'x')))).toBe('for Ada')
    expect(await textOf(model, asking(user('Hello')))).toBe('next')
  })

  test('uses an answer no more often than its times', async () => {
    const model = scripted([say('once', { when: 'a', times: 1 }), say('then', { when: 'a' })])
    expect([await textOf(model, asking(user('a'))), await textOf(model, asking(user('a')))]).toEqual(['once', 'then'])
  })

  test('fails, drops and finishes as the script says', async () => {
    const model = scripted([
      { parts: [{ error: { code: 'model_rate_limited', retryable: true, after: 2, message: 'Slow.' } }] },
      { parts: [{ text: 'a' }, { drop: true }] },
      say('a', { finish: 'length' }),
    ])
    expect(await failureFrom(textOf(model))).toMatchObject({
      code: 'model_rate_limited',
      message: 'Slow.',
      details: { provider: 'scripted', model: 'script', retryable: true, retryAfter: 2 },
    })
    expect(await failureFrom(textOf(model))).toMatchObject({ code: 'model_stream_dropped' })
    expect((await collect(model, emptyRequest, never)).at(-1)).toEqual({ type: 'finish', reason: 'length' })
  })

  test('keeps time, and hangs until the abort', async () => {
    const controller = new AbortController()
    const model = scripted([{ parts: [{ delay_ms: 100 }, { text: 'a', repeat: 3, delay_ms: 10 }, { hang: true }] }])
    const parts: ModelPart[] = []
    const reading = (async () => {
      await model.stream(emptyRequest, controller.signal, (batch) => {
        parts.push(...batch)
      })
    })()
    await clock.advance(109)
    expect(parts).toHaveLength(0)
    await clock.advance(11)
    expect(parts).toHaveLength(2)
    await clock.advance(3_600_000)
    expect(parts).toHaveLength(3)
    controller.abort()
    await reading
    expect(parts).toHaveLength(3)
  })

  test('passes its requests to onRequest', async () => {
    const seen: ModelRequest[] = []
    const model = scriptedModel({ answers: [say('x')], clock, onRequest: (request) => seen.push(request) })
    await textOf(model)
    expect(seen).toEqual([emptyRequest])
  })
})

describe('script file', () => {
  test('is YAML or JSON, a list or an object', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'script-'))
    try {
      await writeFile(
        join(folder, 'a.yaml'),
        `loop: true
answers:
  - when: weather
    times: 2
    parts:
      - text: "Hello "
      - repeat: 3
      - reasoning: Hm
        signature: s
      - tool_call: { name: weather, arguments: { city: Berlin }, id: c1 }
      - usage: { input: 1, output: 2 }
      - delay_ms: 5
      - error: { code: model_failed, message: no, retryable: true, after: 3 }
    finish: length
  - when: { tool: weather }
    parts: [{ drop: true }, { hang: true }]
  - when: { contains: hello }
    parts: []
`,
      )
      expect(await loadScript('a.yaml', folder)).toEqual({
        loop: true,
        answers: [
          {
            when: 'weather',
            times: 2,
            finish: 'length',
            parts: [
              { text: 'Hello ' },
              { text: 'token ', repeat: 3 },
              { reasoning: 'Hm', signature: 's' },
              { tool_call: { name: 'weather', arguments: { city: 'Berlin' }, id: 'c1' } },
              { usage: { input: 1, output: 2 } },
              { delay_ms: 5 },
              { error: { code: 'model_failed', message: 'no', retryable: true, after: 3 } },
            ],
          },
          { when: { tool: 'weather' }, parts: [{ drop: true }, { hang: true }] },
          { when: 'hello', parts: [] },
        ],
      })
      await writeFile(join(folder, 'b.json'), '[{"parts":[{"text":"Hi"}]}]')
      expect(await loadScript('./b.json', folder)).toEqual({ loop: false, answers: [{ parts: [{ text: 'Hi' }] }] })

      await writeFile(join(folder, 'c.yaml'), 'answers: [')
      expect(await failureFrom(loadScript('c.yaml', folder))).toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(`${join(folder, 'c.yaml')}: `),
      })
      expect(await failureFrom(loadScript('d.yaml', folder))).toMatchObject({
        code: 'config_invalid',
        message: `model.script: ${join(folder, 'd.yaml')} cannot be read. Check the path.`,
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  const kinds = 'text, reasoning, tool_call, usage, error, drop, hang, delay_ms'
  test.each<[unknown, string]>([
    [null, 'the script needs a list of answers. Write e.g. answers: [{ parts: [{ text: Hello }] }]'],
    [{ answers: [] }, 'the script needs a list of answers. Write e.g. answers: [{ parts: [{ text: Hello }] }]'],
    [{ answers: [{ parts: [] }], lop: true }, 'lop is unknown. A script has answers and loop.'],
    [{ answers: [{ parts: [] }], loop: 1 }, 'loop must be true or false.'],
    [['Hello'], 'answers[0] needs a list of parts. Write e.g. parts: [{ text: Hello }]'],
    [[{ parts: [], wen: 'x' }], 'answers[0].wen is unknown. An answer has when, times, parts, finish.'],
    [[{ parts: [], when: 7 }], 'answers[0].when must be a text, { user: text } or { tool: name }.'],
    [[{ parts: [], times: -1 }], 'answers[0].times must be a number of 0 or more.'],
    [[{ parts: [], finish: 'end' }], 'answers[0].finish must be one of stop, tool_calls, length.'],
    [[{ parts: ['Hi'] }], `answers[0].parts[0] must be an object with one of ${kinds}.`],
    [[{ parts: [{ txt: 'Hi' }] }], `answers[0].parts[0] needs one of ${kinds}, found txt.`],
    [[{ parts: [{ text: 7 }] }], 'answers[0].parts[0].text must be a text. Put it in quotes.'],
    [
      [{ parts: [{ text: 'a', hang: true }] }],
      'answers[0].parts[0].hang cannot be combined with text. Write it as a separate part.',
    ],
    [[{ parts: [{ text: 'a', repeat: 'x' }] }], 'answers[0].parts[0].repeat must be a number of 0 or more.'],
    [[{ parts: [{ tool_call: 'x' }] }], 'answers[0].parts[0].tool_call must be { name: tool, arguments: { … } }.'],
    [
      [{ parts: [{ tool_call: { name: 'x', arguments: 1 } }] }],
      'answers[0].parts[0].tool_call.arguments must be an object, or a text that is sent unchanged.',
    ],
    [[{ parts: [{ usage: { input: 1 } }] }], 'answers[0].parts[0].usage.output must be a number of 0 or more.'],
    [
      [{ parts: [{ error: { code: 'oops' } }] }],
      'answers[0].parts[0].error.code must be one of our error codes, e.g. model_failed, model_rate_limited.',
    ],
    [[{ parts: [{ drop: 'yes' }] }], 'answers[0].parts[0].drop must be true.'],
  ])('%j is refused with the place and what to write', (value, message) => {
    expect(() => readScript(value, 's.yaml')).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: `s.yaml: ${message}` }),
    )
  })
})
