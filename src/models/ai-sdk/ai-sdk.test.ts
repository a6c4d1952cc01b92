import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { ModelPart, ModelRequest } from '../model.ts'
import { collect, emptyRequest, failureFrom } from '../testing/fixtures.ts'
import { createAiSdkModel } from './ai-sdk.ts'

// A provider package as a user would install it. It plays the stream that the model's name holds as JSON, and records the options
// it was created and called with.
const PACKAGE = `
const log = []
const model = (version, settings, id) => ({
  specificationVersion: version,
  provider: 'fake.chat',
  modelId: id,
  supportedUrls: {},
  async doStream(options) {
    log.push({ settings, options })
    const script = JSON.parse(id)
    if (script.throw) throw Object.assign(new Error(script.throw.message ?? 'oops'), script.throw)
    return {
      stream: new ReadableStream({
        start(controller) {
          for (const part of script.parts) controller.enqueue(part)
          if (!script.hang) controller.close()
        },
        cancel() { log.push('cancelled') },
      }),
    }
  },
})
const provider = (version) => (settings) => {
  const make = (id) => model(version, settings, id)
  return Object.assign(make, { languageModel: make })
}
`

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ai-sdk-'))
  const install = async (name: string, manifest: object, code: string) => {
    const at = join(folder, 'node_modules', name)
    await mkdir(at, { recursive: true })
    await writeFile(join(at, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', ...manifest }))
    await writeFile(join(at, 'index.js'), code)
  }
  const entry = { exports: { '.': { import: './index.js', default: './index.js' } } }
  for (const version of ['v2', 'v3', 'v4', 'v9']) {
    const code = `${PACKAGE}export const createHelper = () => null; export const createFake = provider('${version}'); export { log }`
    await install(`@fake/fake-${version}`, entry, code.replace('createFake', `createFake${version.toUpperCase()}`))
  }
  const importOnly = { exports: { '.': { types: './x.d.ts', import: './index.js' } } }
  await install('import-only', importOnly, `${PACKAGE}export const createSomething = provider('v3'); export { log }`)
  await install('no-provider', entry, 'export const create = 1; export const createThing = "no function"')
  await install('broken', entry, 'throw new Error("secret path")')
})
afterAll(() => rm(folder, { recursive: true }))

const settingsFor = (name: string, script: object, more: Partial<ModelSettings> = {}): ModelSettings => ({
  provider: 'ai-sdk',
  package: name,
  name: JSON.stringify(script),
  contextWindow: 128_000,
  retries: 0,
  firstTokenTimeoutMs: 1000,
  tokenTimeoutMs: 1000,
  ...more,
})

const never = new AbortController().signal
const create = (settings: ModelSettings) =>
  createAiSdkModel(settings, { directory: folder, now: () => 0, log: silentLogger, fetch })

async function play(
  name: string,
  script: object,
  more: Partial<ModelSettings> = {},
  request = emptyRequest,
): Promise<ModelPart[]> {
  const model = await create(settingsFor(name, script, more))
  return collect(model, request, never)
}

async function logOf(name: string): Promise<unknown[]> {
  const { log } = await import(join(folder, 'node_modules', name, 'index.js'))
  return log
}

const metadata = { fake: { itemId: 'x' } }
const parts = (finish: object) => ({
  parts: [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r' },
    { type: 'reasoning-start', id: '1' },
    { type: 'reasoning-delta', id: '1', delta: 'Hm' },
    { type: 'reasoning-end', id: '1', providerMetadata: metadata },
    { type: 'text-start', id: '2' },
    { type: 'text-delta', id: '2', delta: 'Hello' },
    { type: 'text-delta', id: '2', delta: '' },
    { type: 'text-end', id: '2' },
    { type: 'tool-input-start', id: 'c1', toolName: 'look', providerMetadata: metadata },
    { type: 'tool-input-delta', id: 'c1', delta: '{"at"' },
    { type: 'tool-input-delta', id: 'c1', delta: ':1}' },
    { type: 'tool-input-end', id: 'c1' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{"at":1}' },
    { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: '' },
    { type: 'tool-call', toolCallId: 'c3', toolName: 'search', input: '{}', providerExecuted: true },
    { type: 'ping' },
    { type: 'raw', rawValue: 1 },
    { type: 'finish', ...finish },
  ],
})

const expected = (maker: string, usage: object): ModelPart[] => [
  { type: 'reasoning', delta: 'Hm' },
  { type: 'reasoning_signature', signature: `ai-sdk/${maker}:{"fake":{"itemId":"x"}}` },
  { type: 'text', delta: 'Hello' },
  { type: 'tool_call_start', id: 'c1', name: 'look', signature: `ai-sdk/${maker}:{"fake":{"itemId":"x"}}` },
  { type: 'tool_call_args', id: 'c1', delta: '{"at"' },
  { type: 'tool_call_args', id: 'c1', delta: ':1}' },
  { type: 'tool_call_end', id: 'c1' },
  { type: 'tool_call_start', id: 'c2', name: 'look' },
  { type: 'tool_call_args', id: 'c2', delta: '{}' },
  { type: 'tool_call_end', id: 'c2' },
  { type: 'usage', usage: { inputTokens: 5, outputTokens: 7, ...usage } },
  { type: 'finish', reason: 'tool_calls' },
]

describe('AI SDK bridge', () => {
  test('reads a stream of version 2', async () => {
    const finish = {
      finishReason: 'tool-calls',
      usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12, cachedInputTokens: 2 },
    }
    expect(await play('@fake/fake-v2', parts(finish))).toEqual(expected('@fake/fake-v2', { cachedInputTokens: 2 }))
  })

  test.each(['v3', 'v4'])('reads a stream of version %s', async (version) => {
    const usage = {
      inputTokens: { total: 5, noCache: 2, cacheRead: 2, cacheWrite: 1 },
      outputTokens: { total: 7, text: 4, reasoning: 3 },
    }
    const name = `@fake/fake-${version}`
    expect(await play(name, parts({ finishReason: { unified: 'tool-calls', raw: 'x' }, usage }))).toEqual(
      expected(name, { reasoningTokens: 3, cachedInputTokens: 2, cacheWriteInputTokens: 1 }),
    )
  })

  test('uses the complete input when the deltas are not JSON', async () => {
    const script = {
      parts: [
        { type: 'tool-input-start', id: 'c', toolName: 'run', inputEncoding: 'text' },
        { type: 'tool-input-delta', id: 'c', delta: 'ls "x"' },
        { type: 'tool-call', toolCallId: 'c', toolName: 'run', input: '"ls \\"x\\""' },
        { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: {} },
      ],
    }
    expect(await play('@fake/fake-v4', script)).toEqual([
      { type: 'tool_call_start', id: 'c', name: 'run' },
      { type: 'tool_call_args', id: 'c', delta: '"ls \\"x\\""' },
      { type: 'tool_call_end', id: 'c' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('sends the whole conversation, and returns metadata to the package that made it', async () => {
    const request: ModelRequest = {
      system: 'Be brief.',
      aside: '',
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: 'Looking.',
          reasoning: { text: 'Hm', signature: 'ai-sdk/@fake/fake-v4:{"fake":{"itemId":"x"}}' },
          toolCalls: [
            { id: 'c1', name: 'look', arguments: '{"at":1}', signature: 'ai-sdk/@fake/fake-v4:{"fake":{"n":1}}' },
            { id: 'c2', name: 'look', arguments: '{broken', signature: 'google:x' },
          ],
        },
        { role: 'tool', toolCallId: 'c1', toolName: 'look', content: 'fine', isError: false },
        { role: 'tool', toolCallId: 'c2', toolName: 'look', content: 'no JSON', isError: true },
      ],
      tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
      responseFormat: { type: 'object', properties: {} },
      sessionId: 's',
    }
    const more = {
      apiKey: 'k',
      baseUrl: 'http://h/v1',
      temperature: 0.1,
      topP: 0.2,
      maxTokens: 3,
      reasoning: { effort: 'high' },
    } as const
    const script = { parts: [{ type: 'finish', finishReason: { unified: 'stop' }, usage: {} }], id: 'asks' }
    await play('@fake/fake-v4', script, more, request)
    expect((await logOf('@fake/fake-v4')).at(-1)).toEqual({
      settings: { name: 'fake-v4', apiKey: 'k', baseURL: 'http://h/v1', fetch },
      options: {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
          {
            role: 'assistant',
            content: [
              { type: 'reasoning', text: 'Hm', providerOptions: { fake: { itemId: 'x' } } },
              { type: 'text', text: 'Looking.' },
              {
                type: 'tool-call',
                toolCallId: 'c1',
                toolName: 'look',
                input: { at: 1 },
                providerOptions: { fake: { n: 1 } },
              },
              { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: { invalid_json: '{broken' } },
            ],
          },
          {
            role: 'tool',
            content: [
              { type: 'tool-result', toolCallId: 'c1', toolName: 'look', output: { type: 'text', value: 'fine' } },
              {
                type: 'tool-result',
                toolCallId: 'c2',
                toolName: 'look',
                output: { type: 'error-text', value: 'no JSON' },
              },
            ],
          },
        ],
        includeRawChunks: false,
        maxOutputTokens: 3,
        temperature: 0.1,
        topP: 0.2,
        tools: [{ type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
        toolChoice: { type: 'auto' },
        responseFormat: { type: 'json', schema: { type: 'object', properties: {} }, name: 'answer' },
        reasoning: 'high',
        abortSignal: never,
      },
    })
  })

  test('accepts a finish reason that only the provider knows', async () => {
    const finish = { type: 'finish', finishReason: { unified: 'other', raw: 'pause_turn' }, usage: {} }
    expect(await play('@fake/fake-v3', { parts: [finish] })).toEqual([{ type: 'finish', reason: 'stop' }])
  })

  test('finds a package that exports only for import', async () => {
    const script = { parts: [{ type: 'finish', finishReason: { unified: 'length' }, usage: {} }] }
    expect(await play('import-only', script)).toEqual([{ type: 'finish', reason: 'length' }])
  })

  test('cancels the stream on an abort, even when the package ignores the signal', async () => {
    const controller = new AbortController()
    const model = await create(
      settingsFor('@fake/fake-v3', { parts: [{ type: 'text-delta', delta: 'a' }], hang: true }),
    )
    const seen: ModelPart[] = []
    await model.stream(emptyRequest, controller.signal, (batch) => {
      seen.push(...batch)
      setImmediate(() => controller.abort())
    })
    expect(seen).toEqual([{ type: 'text', delta: 'a' }])
    expect((await logOf('@fake/fake-v3')).at(-1)).toBe('cancelled')
  })

  test.each<[string, object, object]>([
    [
      'a status',
      {
        throw: {
          name: 'AI_APICallError',
          statusCode: 429,
          responseHeaders: { 'Retry-After': '4' },
          responseBody: '{}',
        },
      },
      { code: 'model_rate_limited', details: { retryAfter: 4, retryable: true } },
    ],
    [
      'no connection',
      { throw: { name: 'AI_APICallError', cause: { name: 'TypeError', cause: { code: 'ECONNREFUSED' } } } },
      { code: 'model_unreachable', message: expect.stringContaining('connection refused') },
    ],
    [
      'no key',
      { throw: { name: 'AI_LoadAPIKeyError', message: 'Fake API key is missing. Set FAKE_API_KEY.' } },
      {
        code: 'model_auth_failed',
        message: "Fake API key is missing. Set FAKE_API_KEY. Or write model.api_key in the agent's file.",
      },
    ],
    [
      'an answer that is not valid',
      { throw: { name: 'AI_InvalidResponseDataError', message: 'Response stream ended without a finish reason.' } },
      { code: 'model_stream_dropped' },
    ],
    [
      'a request that the package cannot take',
      { throw: { name: 'AI_UnsupportedFunctionalityError', message: 'JSON is not supported' } },
      { code: 'model_bad_request', message: expect.stringContaining('It says: JSON is not supported') },
    ],
    [
      'a bug in the package',
      { throw: { message: 'cannot read /home/secret' } },
      {
        code: 'model_failed',
        message: 'The package @fake/fake-v3 failed. See the log. Another version of the package may help.',
      },
    ],
    [
      'an error part',
      { parts: [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }] },
      { code: 'model_failed', details: { retryable: true, status: 529 } },
    ],
    [
      'a content filter',
      { parts: [{ type: 'finish', finishReason: { unified: 'content-filter' }, usage: {} }] },
      { code: 'model_refused' },
    ],
    [
      'an interrupted stream',
      { parts: [{ type: 'finish', finishReason: { unified: 'interrupted' }, usage: {} }] },
      { code: 'model_stream_dropped' },
    ],
    [
      'a stream that was cut, as version 2 says it',
      { parts: [{ type: 'finish', finishReason: 'unknown', usage: {} }] },
      { code: 'model_stream_dropped' },
    ],
    [
      'a stream that was cut, as version 3 says it',
      { parts: [{ type: 'finish', finishReason: { unified: 'other' }, usage: {} }] },
      { code: 'model_stream_dropped' },
    ],
    ['no finish', { parts: [{ type: 'text-delta', delta: 'a' }] }, { code: 'model_stream_dropped' }],
  ])('reports %s', async (_, script, failure) => {
    expect(await failureFrom(play('@fake/fake-v3', script))).toMatchObject(failure)
  })

  test('says what to do when the package is missing, is not a provider, or is not named', async () => {
    const messageOf = async (name: string | undefined): Promise<unknown> => {
      const { package: _, ...rest } = settingsFor('x', { parts: [] })
      return failureFrom(create(name === undefined ? rest : { ...rest, package: name }))
    }
    const invalid = (message: string) => ({ code: 'config_invalid', message })
    expect(await messageOf('@ai-sdk/mistral')).toMatchObject(
      invalid(
        `The package @ai-sdk/mistral is not installed next to the agent. Run: cd ${folder} && npm install @ai-sdk/mistral`,
      ),
    )
    expect(await messageOf(undefined)).toMatchObject(
      invalid(
        'provider: ai-sdk needs the npm package of the provider. Write e.g. package: "@ai-sdk/mistral" under model.',
      ),
    )
    for (const name of ['../evil', '/etc/passwd', 'node:fs', 'a b', '@x']) {
      expect(await messageOf(name)).toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining('is not the name of an npm package'),
      })
    }
    expect(await messageOf('no-provider')).toMatchObject(
      invalid(
        'The package no-provider exports no provider (a function create…). Is it one of https://ai-sdk.dev/providers?',
      ),
    )
    expect(await messageOf('@fake/fake-v9')).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('does not implement the AI SDK'),
    })
    expect(await messageOf('broken')).toMatchObject(
      invalid(`The package broken could not be loaded. Try: cd ${folder} && npm install broken@latest`),
    )
  })
})
