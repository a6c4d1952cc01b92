import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import { until } from '../../outgoing/testing/ask.ts'
import { failureFrom } from '../testing/fixtures.ts'
import { type Loopback, listen } from '../testing/loopback.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { openModelHttp } from '../testing/open-model-http.ts'
import { createEmbedding, type EmbeddingDeps } from './create-embedding.ts'
import type { Embedding } from './embedding.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

const never = new AbortController().signal
const KEY = 'sk-secret-0123456789'

function deps(clock: Clock = createSystemClock(), directory = '/'): EmbeddingDeps {
  const http = openModelHttp(clock)
  cleanups.push(http.close)
  return { http, clock, random: () => 0, log: silentLogger, directory }
}

type Answer = (response: http.ServerResponse, request: http.IncomingMessage, count: number) => void

async function serve(answer: Answer): Promise<Loopback> {
  const server = await listen(answer)
  cleanups.push(server.close)
  return server
}

const settings = (more: Partial<EmbeddingSettings>): EmbeddingSettings => ({
  provider: 'openai',
  name: 'small',
  apiKey: KEY,
  retries: 0,
  dimensions: null,
  price: null,
  ...more,
})

const json = (response: http.ServerResponse, body: unknown, status = 200, headers: http.OutgoingHttpHeaders = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const openAiAnswer = (...vectors: unknown[]) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'small',
  usage: { prompt_tokens: 7, total_tokens: 7 },
})

/** An embedding of a server that answers like this. */
async function asking(answer: Answer, more: Partial<EmbeddingSettings> = {}, clock?: Clock) {
  const server = await serve(answer)
  return { server, embedding: await createEmbedding(settings({ baseUrl: `${server.url}/v1`, ...more }), deps(clock)) }
}

const usage = (provider: string, tokens: number) => ({
  provider,
  model: 'small',
  inputTokens: tokens,
  outputTokens: 0,
  totalTokens: tokens,
})

const vectors = (...lists: number[][]) => lists.map((list) => Float32Array.from(list))

describe('a server that speaks OpenAI’s protocol', () => {
  test('gets the texts in one request, and its vectors are put in order', async () => {
    const { server, embedding } = await asking((response) => {
      const { data, ...rest } = openAiAnswer([1, 0.5], [0, -1])
      json(response, { ...rest, data: data.toReversed() })
    })

    expect(await embedding.embed(['one', 'two'], 'passage', never)).toEqual({
      vectors: vectors([1, 0.5], [0, -1]),
      usage: usage('openai', 7),
    })
    expect(server.bodies).toEqual([{ model: 'small', input: ['one', 'two'] }])
    expect(server.requests).toMatchObject([
      { method: 'POST', url: '/v1/embeddings', headers: { authorization: `Bearer ${KEY}` } },
    ])
    expect(embedding.most).toEqual({ texts: 32, tokens: 8_000 })
  })

  test('may send bytes in base64, and gets the dimensions', async () => {
    const bytes = Buffer.from(Float32Array.of(0.25, -2).buffer).toString('base64')
    const { server, embedding } = await asking((response) => json(response, { data: [{ embedding: bytes }] }), {
      dimensions: 2,
      apiKey: 'none',
    })

    expect(await embedding.embed(['one'], 'query', never)).toEqual({ vectors: vectors([0.25, -2]), usage: null })
    expect(server.bodies).toEqual([{ model: 'small', input: ['one'], dimensions: 2 }])
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })

  test('is not asked about nothing', async () => {
    const { server, embedding } = await asking(() => {})

    expect(await embedding.embed([], 'passage', never)).toEqual({ vectors: [], usage: null })
    expect(server.requests).toEqual([])
  })

  test('of Azure is asked under the deployment, for bytes', async () => {
    const { server, embedding } = await asking((response) => json(response, openAiAnswer([1])), { provider: 'azure' })
    await embedding.embed(['one'], 'passage', never)

    expect(server.requests).toMatchObject([{ url: '/v1/openai/v1/embeddings', headers: { 'api-key': KEY } }])
    expect(server.bodies).toEqual([{ model: 'small', input: ['one'], encoding_format: 'base64' }])
  })

  test('of Ollama runs a model of Nomic, which expects the purpose in front', async () => {
    const { server, embedding } = await asking((response) => json(response, openAiAnswer([1])), {
      provider: 'ollama',
      name: 'nomic-embed-text',
    })
    await embedding.embed(['one'], 'passage', never)
    await embedding.embed(['two'], 'query', never)

    expect(server.bodies).toMatchObject([{ input: ['search_document: one'] }, { input: ['search_query: two'] }])
  })
})

test('Gemini is told the purpose of each text', async () => {
  const server = await serve((response) => json(response, { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] }))
  const embedding = await createEmbedding(
    settings({ provider: 'google', name: 'gemini-embedding-001', baseUrl: server.url, dimensions: 2 }),
    deps(),
  )

  expect(await embedding.embed(['one', 'two'], 'passage', never)).toEqual({
    vectors: vectors([1, 2], [3, 4]),
    usage: null,
  })
  expect(server.requests).toMatchObject([
    { url: '/v1beta/models/gemini-embedding-001:batchEmbedContents', headers: { 'x-goog-api-key': KEY } },
  ])
  const request = (text: string) => ({
    model: 'models/gemini-embedding-001',
    content: { parts: [{ text }] },
    taskType: 'RETRIEVAL_DOCUMENT',
    outputDimensionality: 2,
  })
  expect(server.bodies).toEqual([{ requests: [request('one'), request('two')] }])
})

describe('a failure', () => {
  const fail = async (answer: Answer, more: Partial<EmbeddingSettings> = {}, texts = ['one']) => {
    const { embedding } = await asking(answer, more)
    return failureFrom(embedding.embed(texts, 'passage', never))
  }

  test('that passes is waited for, as long as the server asks', async () => {
    const clock = createManualClock()
    const { server, embedding } = await asking(
      (response, _request, count) =>
        count < 3
          ? json(response, { error: { message: 'slow down' } }, 429, { 'retry-after': '3' })
          : json(response, openAiAnswer([1])),
      { retries: 2 },
      clock,
    )
    const asked = embedding.embed(['one'], 'passage', never)
    for (const count of [1, 2]) {
      await until(() => server.requests.length === count && clock.pending > 0)
      while (server.requests.length === count) await clock.advance(1_000)
    }

    expect((await asked).vectors).toEqual(vectors([1]))
    expect(server.requests).toHaveLength(3)
    expect(clock.mono()).toBeGreaterThanOrEqual(6_000)
  })

  test('that stays is given up after the retries of the settings', async () => {
    const clock = createManualClock()
    const { server, embedding } = await asking((response) => json(response, {}, 503), { retries: 1 }, clock)
    const failing = failureFrom(embedding.embed(['one'], 'passage', never))
    await until(() => server.requests.length === 1)
    while (server.requests.length < 2) await clock.advance(1_000)

    expect(await failing).toMatchObject({ code: 'model_failed', details: { status: 503, retryable: true } })
  })

  test('of the key says where it stands, and never what it is', async () => {
    const failure = await fail((response) => json(response, { error: { message: `bad key ${KEY}` } }, 401), {
      retries: 3,
    })

    expect(failure).toMatchObject({
      code: 'model_auth_failed',
      message: expect.stringMatching(
        /Check OPENAI_API_KEY, or embedding\.api_key in the agent's file\. It says: bad key \*\*\*$/,
      ),
    })
  })

  test('does not quote the texts', async () => {
    const text = 'Nobody may know that the moon is made of cheese.'
    const failure = await fail(
      (response) => json(response, { error: { message: `invalid input: ${text}` } }, 400),
      {},
      [text, 'x'.repeat(200_000)],
    )

    expect(failure).toMatchObject({
      code: 'model_bad_request',
      message: expect.stringMatching(/It says: invalid input: \[…\]$/),
    })
  })

  test('of a text that is too long is named so', async () => {
    expect(await fail((response) => json(response, { detail: 'maximum context length is 8192' }, 400))).toMatchObject({
      code: 'model_context_overflow',
      message: expect.stringMatching(/^A text is too long for the model small\./),
    })
  })

  test.each([
    ['before it answers', (response: http.ServerResponse) => response.destroy(), 'model_unreachable'],
    [
      'in the middle of its answer',
      (response: http.ServerResponse) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"data":', () => response.destroy())
      },
      'model_stream_dropped',
    ],
  ])('of a server that dies %s may pass', async (_when, answer, code) => {
    expect(await fail(answer)).toMatchObject({ code, details: { retryable: true } })
  })

  test.each([
    ['HTML', (response: http.ServerResponse) => response.end('<html>'), /did not answer with embeddings/],
    [
      'something else',
      (response: http.ServerResponse) => json(response, { data: 'x' }),
      /did not answer with embeddings/,
    ],
    [
      'an error',
      (response: http.ServerResponse) => json(response, { error: { code: 400, message: 'no' } }),
      /It says: no/,
    ],
  ])('is a status of 200 with %s', async (_what, answer, message) => {
    expect(await fail(answer)).toMatchObject({ code: 'model_bad_request', message: expect.stringMatching(message) })
  })

  test.each([
    ['too few vectors', [[1, 2]], /sent 1 vectors for 2 texts/],
    [
      'several lengths',
      [
        [1, 2],
        [1, 2, 3],
      ],
      /sent vectors of 2 and of 3 dimensions in one answer/,
    ],
    [
      'other dimensions than the settings',
      [
        [1, 2, 3],
        [1, 2, 3],
      ],
      /has 3 dimensions, and embedding\.dimensions says 2/,
    ],
    [
      'texts for numbers',
      [
        [1, 2],
        ['a', 'b'],
      ],
      /sent a vector that is not a list of numbers/,
    ],
    [
      'nothing for numbers',
      [
        [1, 2],
        [1, null],
      ],
      /sent a vector that is not a list of numbers/,
    ],
    ['empty vectors', [[], []], /sent a vector that is not a list of numbers/],
    [
      'numbers that are too large',
      [
        [1, 2],
        [1, 1e300],
      ],
      /sent a vector that is not a list of numbers/,
    ],
    ['bytes that are not floats', ['AAAAAAAA', 'AAA='], /sent a vector that is not a list of numbers/],
    ['bytes of NaN', ['AAAAAAAA', 'AADAfwAAwH8='], /sent a vector that is not a list of numbers/],
  ])('is an answer with %s', async (what, list, message) => {
    const dimensions = what.startsWith('other') ? 2 : null
    const failure = await fail((response) => json(response, openAiAnswer(...list)), { dimensions, retries: 2 }, [
      'a',
      'b',
    ])

    expect(failure).toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(message),
      details: { retryable: false },
    })
  })

  test('is a server that is silent for a minute', async () => {
    const clock = createManualClock()
    const { server, embedding } = await asking(() => {}, { retries: 2 }, clock)
    const failing = failureFrom(embedding.embed(['one'], 'passage', never))
    await until(() => server.requests.length === 1)
    await clock.advance(60_000)

    expect(await failing).toMatchObject({ code: 'model_timeout', message: expect.stringContaining('within 60 s') })
    expect(server.requests).toHaveLength(1)
  })

  test('does not follow when the caller leaves', async () => {
    const { server, embedding } = await asking(() => {}, { retries: 2 })
    const caller = new AbortController()
    const failing = failureFrom(embedding.embed(['one'], 'passage', caller.signal))
    await until(() => server.requests.length === 1)
    caller.abort(new Error('gone'))

    expect(await failing).toEqual(new Error('gone'))
    await until(() => server.sockets.every(({ destroyed }) => destroyed))
  })
})

describe('settings that cannot work', () => {
  test.each<[string, Partial<EmbeddingSettings>, RegExp]>([
    [
      'a provider without embeddings',
      { provider: 'anthropic' },
      /^embedding\.provider: "anthropic" has no embeddings.*Write one of openai, azure, google/,
    ],
    [
      'no key',
      { apiKey: '' },
      /^provider: openai needs a key\. Set OPENAI_API_KEY, or write api_key under embedding\./,
    ],
    ['a key of two lines', { apiKey: 'a\nb' }, /^The key in OPENAI_API_KEY or embedding\.api_key contains/],
    ['no address of Azure', { provider: 'azure' }, /^provider: azure needs the address/],
    ['no package', { provider: 'ai-sdk' }, /package: "@ai-sdk\/mistral" under embedding\.$/],
    ['no certificate', { tls: { ca: '/nowhere.pem' } }, /^embedding\.tls\.ca: \/nowhere\.pem cannot be read/],
  ])('are refused: %s', async (_what, more, message) => {
    expect(await failureFrom(createEmbedding(settings(more), deps()))).toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(message),
    })
  })
})

describe('a package of the AI SDK', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ai-sdk-embedding-'))
    const install = async (name: string, code: string) => {
      const at = join(folder, 'node_modules', name)
      await mkdir(at, { recursive: true })
      await writeFile(
        join(at, 'package.json'),
        JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './index.js' }),
      )
      await writeFile(join(at, 'index.js'), code)
    }
    const made = (version: string) =>
      `(id) => ({ specificationVersion: '${version}', provider: 'cohere.embedding', maxEmbeddingsPerCall: Promise.resolve(3),
         doEmbed: async (options) => ({ embeddings: [[1]], usage: { tokens: 2 }, options: log.push(options) }) })`
    await install(
      'old',
      `export const log = []; export const createOld = () => ({ textEmbeddingModel: ${made('v2')} })`,
    )
    await install(
      'middle',
      `export const log = []; export const createMiddle = () => ({ embeddingModel: ${made('v3')} })`,
    )
    await install('chat-only', `export const createChat = () => () => ({})`)
    await install(
      'from-tomorrow',
      `const log = []; export const createFrom = () => ({ embeddingModel: ${made('v9')} })`,
    )
  })
  afterAll(() => rm(folder, { recursive: true }))

  const made = (name: string, more: Partial<EmbeddingSettings> = {}): Promise<Embedding> =>
    createEmbedding(settings({ provider: 'ai-sdk', package: name, ...more }), deps(createSystemClock(), folder))

  test.each(['old', 'middle'])('is asked in its own version of the interface: %s', async (name) => {
    const embedding = await made(name, { dimensions: 1 })
    const { log } = await import(join(folder, 'node_modules', name, 'index.js'))

    expect(await embedding.embed(['one'], 'query', never)).toEqual({ vectors: vectors([1]), usage: usage('ai-sdk', 2) })
    expect(embedding.most.texts).toBe(3)
    expect(log).toMatchObject([
      { values: ['one'], providerOptions: { cohere: { inputType: 'search_query', outputDimension: 1 } } },
    ])
  })

  test('reaches the server by our connections, and its failures become ours', async () => {
    const repository = fileURLToPath(new URL('../../..', import.meta.url))
    const server = await serve((response, _request, count) =>
      count === 1 ? json(response, openAiAnswer([1, 2])) : json(response, { error: { message: 'no such key' } }, 401),
    )
    const embedding = await createEmbedding(
      settings({ provider: 'ai-sdk', package: '@ai-sdk/openai', baseUrl: `${server.url}/v1`, dimensions: 2 }),
      deps(createSystemClock(), repository),
    )

    expect(await embedding.embed(['one'], 'passage', never)).toEqual({
      vectors: vectors([1, 2]),
      usage: usage('ai-sdk', 7),
    })
    expect(server.bodies).toEqual([{ model: 'small', input: ['one'], encoding_format: 'float', dimensions: 2 }])
    expect(await failureFrom(embedding.embed(['one'], 'passage', never))).toMatchObject({ code: 'model_auth_failed' })
  })

  test.each([
    ['chat-only', /has no embeddings/],
    ['from-tomorrow', /does not implement the AI SDK's provider interface in version 2, 3 or 4/],
  ])('that cannot do it is refused: %s', async (name, message) => {
    await expect(made(name)).rejects.toThrow(message)
  })
})
