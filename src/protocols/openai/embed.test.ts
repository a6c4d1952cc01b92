import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { until } from '../../http/testing/server-fixture.ts'
import type { Embedding } from '../../models/embedding/embedding.ts'
import { EmbeddingListSchema } from './embedding-schema.ts'
import { openOpenAi } from './testing/open-openai.ts'

type Embed = Embedding['embed']

/** The length of each text, and how many there were before it in its batch. */
const lengths: Embed = async (texts) => ({
  vectors: texts.map((text, i) => Float32Array.of(text.length, i, 0.1)),
  usage: { provider: 'test', model: 'small', inputTokens: 3, outputTokens: 0, totalTokens: 3 },
})

async function openWith(embed: Embed = lengths) {
  const asked: { model: string | undefined; texts: string[]; purpose: string }[] = []
  let model: string | undefined
  const embedding: Embedding = {
    provider: 'test',
    name: 'small',
    most: { texts: 2, tokens: 1_000 },
    embed(texts, purpose, signal) {
      asked.push({ model, texts: [...texts], purpose })
      return embed(texts, purpose, signal)
    },
  }
  const door = await openOpenAi(
    {},
    {
      of: (name) => {
        model = name
        return name === 'nobody' ? null : embedding
      },
    },
  )
  const client = new OpenAI({ baseURL: `${door.url}/v1`, apiKey: 'any', maxRetries: 0 })
  return { ...door, client, asked, [Symbol.asyncDispose]: () => door[Symbol.asyncDispose]() }
}

const EMBEDDINGS = '/v1/embeddings'
const bodyOf = async (answer: Response): Promise<unknown> => JSON.parse(await answer.text())

describe('the official client', () => {
  test('gets a vector for each text, whatever fits in one request to the provider', async () => {
    await using door = await openWith()

    const answer = await door.client.embeddings.create({ model: 'tester', input: ['a', 'bb', 'ccc'] })

    expect(answer.data.map(({ index, embedding }) => [index, embedding.map((one) => Number(one.toFixed(2)))])).toEqual([
      [0, [1, 0, 0.1]],
      [1, [2, 1, 0.1]],
      [2, [3, 0, 0.1]],
    ])
    expect([answer.model, answer.usage]).toEqual(['small', { prompt_tokens: 6, total_tokens: 6 }])
    expect(door.asked).toEqual([
      { model: 'tester', texts: ['a', 'bb'], purpose: 'passage' },
      { model: 'tester', texts: ['ccc'], purpose: 'passage' },
    ])
  })

  test('gets the same as numbers', async () => {
    await using door = await openWith()

    const { data } = await door.client.embeddings.create({ model: 'small', input: 'abc', encoding_format: 'float' })

    expect(data).toEqual([{ object: 'embedding', index: 0, embedding: [3, 0, Math.fround(0.1)] }])
  })

  test.each([
    [
      'there is no such embedding',
      { model: 'nobody' },
      404,
      'model_not_found',
      /There is no embedding "nobody"\. .*type: knowledge/,
    ],
    [
      'it sends tokens',
      { input: [[1, 2]] },
      400,
      'invalid_request',
      /input\[0\]: Send text: tokens belong to one model alone/,
    ],
    ['it sends a list of tokens', { input: [1, 2] }, 400, 'invalid_request', /input\[0\]: Send text/],
    ['it sends nothing', { input: [] }, 400, 'invalid_request', /input: Send a text, or a list of 1 to 2048 texts/],
    ['a text is empty', { input: ['a', ''] }, 400, 'invalid_request', /input\[1\]: Send a text that is not empty/],
    ['it wants other dimensions', { dimensions: 2 }, 400, 'invalid_request', /dimensions: This embedding has 3/],
  ])('is told when %s', async (_when, more, status, code, message) => {
    await using door = await openWith()
    const asking = door.client.embeddings.create({ model: 'tester', input: 'a', ...more })

    await expect(asking).rejects.toMatchObject({ status, code, message: expect.stringMatching(message) })
  })

  test.each([
    [true, 503],
    [false, 400],
  ])('is told to try again only if that can help: %s', async (retryable, status) => {
    await using door = await openWith(() => {
      const details = { retryable, provider: 'test', model: 'small' }
      return Promise.reject(new ServerError('model_rate_limited', 'Slow down.', { details }))
    })

    const asking = door.client.embeddings.create({ model: 'tester', input: 'a' })

    await expect(asking).rejects.toMatchObject({
      status,
      code: 'model_rate_limited',
      message: expect.stringMatching(/Slow down\.$/),
    })
  })
})

test('without a name the server chooses, and without figures of the provider there are none', async () => {
  await using door = await openWith(async (texts) => ({ vectors: texts.map(() => Float32Array.of(1)), usage: null }))

  const body = await bodyOf(await door.post(EMBEDDINGS, { input: 'a', dimensions: 1 }))

  expect(EmbeddingListSchema.parse(body)).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    model: 'small',
  })
  expect(door.asked).toMatchObject([{ model: undefined }])
})

test('where no agent has an embedding, the answer says how to get one', async () => {
  await using door = await openOpenAi()

  const answer = await door.post(EMBEDDINGS, { input: 'a' })

  expect([answer.status, await bodyOf(answer)]).toEqual([
    404,
    {
      error: {
        message:
          'No agent here has an embedding. Name an agent that has one, or give it one in its file: tools: [{ type: knowledge, name: docs, source: ./docs, embedding: { provider: openai } }]',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    },
  ])
})

test('nine requests at once are one too many, and a caller who leaves makes room', async () => {
  await using door = await openWith(
    (_texts, _purpose, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  const callers = Array.from({ length: 8 }, () => new AbortController())
  const waiting = callers.map(({ signal }) =>
    door.client.embeddings.create({ model: 'tester', input: 'a' }, { signal }).catch(() => 'left'),
  )
  await until(() => door.asked.length === 8)

  expect((await door.post(EMBEDDINGS, { input: 'a' })).status).toBe(429)
  for (const caller of callers) caller.abort()
  expect(await Promise.all(waiting)).toEqual(Array(8).fill('left'))
  const next = new AbortController()
  const asking = door.client.embeddings
    .create({ model: 'tester', input: 'b' }, { signal: next.signal })
    .catch(() => 'left')
  await until(() => door.asked.length === 9)
  next.abort()
  expect(await asking).toBe('left')
})
