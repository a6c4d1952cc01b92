// One session of 2,000 exchanges: what a run reads, sends and costs at its end is what it was when the conversation had filled its window once.

import { expect, test } from 'vitest'
import { openEngine, testAgent } from '../../src/engine/testing/open-engine.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import { type Model, streamOf } from '../../src/models/model.ts'

const EXCHANGES = 2_000
const CONTEXT = 8_000

/** Notes that grow until they are cut: the worst that a model can do. */
function notes(): Model & { tokens: number } {
  const model = {
    ...{ provider: 'scripted', name: 'notes', tokens: 0, check: () => Promise.resolve() },
    stream: streamOf(async function* ({ messages }) {
      const prompt = messages[0]?.content ?? ''
      model.tokens += Math.ceil(prompt.length / 4)
      const facts = [...prompt.matchAll(/User: Question (\d+)/g)].map(([, n]) => `- Question ${n} was asked.`)
      yield [{ type: 'text', delta: `# Facts\n${facts.join('\n')}\n# Story\nThey talked.` }]
      yield [{ type: 'finish', reason: 'stop' }]
    }),
  }
  return model
}

test('a run costs the same after 2,000 exchanges as after 200', { timeout: 600_000 }, async () => {
  const summarizer = notes()
  const sent: number[] = []
  const read: number[] = []
  const onRequest = ({ system, messages, aside }: ModelRequest) =>
    void sent.push(messages.reduce((sum, { content }) => sum + content.length, system.length + aside.length))
  const server = openEngine({
    ...{ summarizer, onRequest },
    agent: { context: { maxMessages: 200, mode: 'summarize' }, model: { ...testAgent.model, contextWindow: CONTEXT } },
    answers: [{ parts: [{ text: 'It is on its way, and will be there soon. '.repeat(5) }] }],
  })
  let rows = 0
  const { page } = server.store.messages
  server.store.messages.page = async (...args) => {
    const found = await page(...args)
    rows += found.length
    return found
  }
  let tokens = 0
  const asked: number[] = []
  let session: Awaited<ReturnType<typeof server.start>>['session'] | null = null
  for (let i = 0; i < EXCHANGES; i += 1) {
    rows = 0
    const accepted = await server.start(`Question ${i}: ${'where is my order? '.repeat(10)}`, {
      ...(session === null ? {} : { session: { existing: session } }),
    })
    session = accepted.session
    await server.events(accepted)
    read.push(rows)
    asked.push(summarizer.tokens - tokens)
    tokens = summarizer.tokens
  }
  const mean = (list: readonly number[]) => list.reduce((sum, n) => sum + n, 0) / list.length
  const early = (list: readonly number[]) => mean(list.slice(200, 600))
  const late = (list: readonly number[]) => mean(list.slice(1_600))

  expect(sent.length).toBe(EXCHANGES)
  for (const list of [sent, read, asked]) {
    expect(early(list)).toBeGreaterThan(0)
    expect(late(list)).toBeLessThan(early(list) * 1.15)
  }
  expect(Math.max(...sent)).toBeLessThan(CONTEXT * 4)
  await server.close()
})
