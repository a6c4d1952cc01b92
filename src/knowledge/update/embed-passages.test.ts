import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { silentLogger } from '../../domain/logger.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import type { Embedded, Embedding } from '../../models/embedding/embedding.ts'
import type { KnowledgeStore, NewVector } from '../../store/ports/knowledge.ts'
import { createMemoryKnowledge } from '../../store/testing/memory-knowledge.ts'
import { createEmbedder, type EmbedderDeps } from './embed-passages.ts'
import { byLine, INDEX, never } from './testing/test-updater.ts'

const usage = { provider: 'test', model: 'small', inputTokens: 3, outputTokens: 0, totalTokens: 3 }

const quantize = (floats: Float32Array): Omit<NewVector, 'digest'> => ({
  code: new Uint8Array(Math.ceil(floats.length / 8)),
  bytes: Int8Array.from(floats),
  floats,
})

/** `answer` gets the texts of one request, and how many came before it. */
function embeddingOf(
  answer: (texts: readonly string[], request: number) => Partial<Embedded> | Promise<Partial<Embedded>>,
  most = { texts: 3, tokens: 1_000 },
): Embedding & { requests: string[][] } {
  const requests: string[][] = []
  return {
    provider: 'test',
    name: 'small',
    most,
    requests,
    async embed(texts) {
      requests.push([...texts])
      return { vectors: [], usage: null, ...(await answer(texts, requests.length - 1)) }
    },
  }
}

const vectorsOf = (texts: readonly unknown[], dimensions: number): Float32Array[] =>
  texts.map((_, i) => Float32Array.from({ length: dimensions }, () => i + 1))

async function storeWith(lines: number): Promise<KnowledgeStore> {
  const store = createMemoryKnowledge()
  const text = Array.from({ length: lines }, (_, i) => `line ${i}`).join('\n')
  const document = await byLine({ sections: [{ label: '', text }], notes: [] }, { name: 'a.md', type: 'text/plain' })
  await store.put(INDEX, { path: 'a.md', bytes: 1, changedMs: 1, document: '1-a', problem: null }, document)
  return store
}

function open(store: KnowledgeStore, embedding: Embedding, parts: Partial<EmbedderDeps> = {}) {
  const deps = { store, embedding, quantize, spent() {}, clock: createSystemClock(), log: silentLogger, ...parts }
  const embedder = createEmbedder(deps)
  return (signal = never, onProgress: Parameters<typeof embedder.embed>[2] = () => {}) =>
    embedder.embed(INDEX, signal, onProgress)
}

const embedded = async (store: KnowledgeStore): Promise<number> => (await store.figures(INDEX)).embedded
const down = new ServerError('model_unreachable', 'The provider does not answer.')

describe('embedding the passages of an index', () => {
  test('asks for as many at a time as the provider takes, each once, with the headings in front', async () => {
    const store = await storeWith(7)
    const spent: unknown[] = []
    const embedding = embeddingOf((texts) => ({ vectors: vectorsOf(texts, 4), usage }))
    const embed = open(store, embedding, { spent: (one) => spent.push(one) })

    expect(await embed()).toEqual({ why: null })
    expect(embedding.requests.map((texts) => texts.length)).toEqual([3, 3, 1])
    expect(embedding.requests[0]?.[0]).toBe('a.md\n\nline 0')
    expect(spent).toEqual([usage, usage, usage])
    expect(await store.figures(INDEX)).toMatchObject({ passages: 7, embedded: 7 })
    expect(await embed()).toEqual({ why: null })
    expect(embedding.requests).toHaveLength(3)
  })

  test('keeps to the tokens of a request, but sends a text that is too long alone', async () => {
    const store = await storeWith(4)
    const embedding = embeddingOf((texts) => ({ vectors: vectorsOf(texts, 4) }), { texts: 10, tokens: 10 })
    await open(store, embedding)()
    const small = embeddingOf((texts) => ({ vectors: vectorsOf(texts, 4) }), { texts: 10, tokens: 1 })
    const other = await storeWith(3)
    await open(other, small)()

    expect(embedding.requests.map((texts) => texts.length)).toEqual([2, 2])
    expect(small.requests.map((texts) => texts.length)).toEqual([1, 1, 1])
  })

  test('tells its progress', async () => {
    const told: unknown[] = []
    const store = await storeWith(7)
    await open(
      store,
      embeddingOf((texts) => ({ vectors: vectorsOf(texts, 4) })),
    )(never, (one) => told.push(one))

    expect(told[0]).toEqual({ done: 3, total: 7, phase: 'embedding' })
  })

  test('stops with the reason when the provider fails, tries again later each time, and goes on where it was', async () => {
    const store = await storeWith(9)
    let isDown = true
    const embedding = embeddingOf((texts, request) => {
      if (isDown && request > 0) throw down
      return { vectors: vectorsOf(texts, 4) }
    })
    const embed = open(store, embedding)
    const pauses: number[] = []
    for (let i = 0; i < 11; i += 1) {
      const end = await embed()
      if (end.why === null) throw new Error('it did not fail')
      expect(end.why).toBe('The provider does not answer.')
      pauses.push(end.againMs)
    }

    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000))
    expect(await embedded(store)).toBe(3)
    isDown = false
    expect(await embed()).toEqual({ why: null })
    expect(await embedded(store)).toBe(9)
  })

  test('begins again once when the vectors have another length, and never mixes them', async () => {
    const store = await storeWith(9)
    const lines: LogLine[] = []
    const embedding = embeddingOf((texts, request) => ({ vectors: vectorsOf(texts, request < 2 ? 4 : 8) }))
    expect(await open(store, embedding, { log: recordingLogger(lines) })()).toEqual({ why: null })

    expect(await store.dimensions(INDEX)).toBe(8)
    expect(await embedded(store)).toBe(9)
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'the vectors of the embedding have another length now, so all passages are embedded again',
        fields: { index: INDEX, embedding: 'small', before: 4, now: 8 },
      },
    ])
  })

  test('gives up when the length is another one each time', async () => {
    const store = await storeWith(9)
    const embedding = embeddingOf((texts, request) => ({ vectors: vectorsOf(texts, request + 1) }))

    expect(await open(store, embedding)()).toEqual({
      why: 'The embedding small of test answers with vectors of another length each time.',
      againMs: 1_000,
    })
    expect(embedding.requests).toHaveLength(3)
  })

  test.each([
    ['too few vectors', [new Float32Array(4)], 'answers 3 texts with 1 vectors'],
    ['too many vectors', vectorsOf([1, 2, 3, 4], 4), 'answers 3 texts with 4 vectors'],
    ['no vectors', [], 'answers 3 texts with 0 vectors'],
    ['empty vectors', vectorsOf([1, 2, 3], 0), 'answers with vectors that are empty or not of one length'],
    [
      'vectors of two lengths',
      [...vectorsOf([1, 2], 4), new Float32Array(5)],
      'answers with vectors that are empty or not of one length',
    ],
    [
      'vectors without numbers',
      [...vectorsOf([1, 2], 2), Float32Array.of(1, Number.NaN)],
      'answers with vectors that are not made of numbers',
    ],
  ])('keeps nothing of %s', async (_, vectors, why) => {
    const store = await storeWith(9)

    expect(
      await open(
        store,
        embeddingOf(() => ({ vectors, usage })),
      )(),
    ).toEqual({
      why: `The embedding small of test ${why}.`,
      againMs: 1_000,
    })
    expect(await embedded(store)).toBe(0)
  })

  test('throws what is not about the provider', async () => {
    const store = await storeWith(3)
    const full = new ServerError('storage_full', 'The disk is full.')
    const stop = new AbortController()
    const embedding = embeddingOf((texts) => ({ vectors: vectorsOf(texts, 4) }))
    const broken = { ...store, putVectors: () => Promise.reject(full) }
    const slow = embeddingOf(() => {
      stop.abort(new Error('enough'))
      throw down
    })

    await expect(open(broken, embedding)()).rejects.toBe(full)
    await expect(open(store, slow)(stop.signal)).rejects.toThrow('enough')
  })

  test('removes vectors that nothing has any more', async () => {
    const store = await storeWith(3)
    const embedding = embeddingOf((texts) => ({ vectors: vectorsOf(texts, 4) }))
    const embed = open(store, embedding)
    await embed()
    const swept: boolean[] = []
    const watched = { ...store, sweepVectors: async (_: string, all: boolean) => void swept.push(all) }
    await open(watched, embedding)()
    await store.sweepVectors(INDEX, true)
    await open(watched, embedding)()

    expect(swept).toEqual([false])
  })
})
