// How much of each request a provider's cache can use, from pairs of requests of one session. No request is sent.
//   node bench/cached-share.ts
// A provider reads tools, instructions and conversation in this order. Anthropic keeps what stands before a mark of the request before;
// the others keep whatever the request before began with.

import type { ModelAgent, ModelSettings } from '../src/domain/agent/agent.ts'
import type { StoredMessage } from '../src/domain/session/message.ts'
import { buildRequest } from '../src/engine/loop/build-request.ts'
import { anthropicApi } from '../src/models/anthropic/request.ts'
import { googleApi } from '../src/models/google/request.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { openAiApi } from '../src/models/openai/request.ts'
import { median } from './percentiles.ts'

const RUNS = 30
const settings: ModelSettings = {
  provider: 'openai',
  name: 'some',
  apiKey: 'none',
  contextWindow: 20_000,
  retries: 0,
  firstTokenTimeoutMs: 1,
  tokenTimeoutMs: 1,
}
const tools = ['find', 'order', 'refund', 'send', 'status'].map((name) => ({
  name,
  description: `${name}: ${'what it does, and when to use it. '.repeat(6)}`,
  parameters: { type: 'object', properties: { id: { type: 'string' }, note: { type: 'string' } } },
}))

/** A session of a shop's helper: each run asks, calls a tool, and answers. A client sends its context, which changes with each run. */
function* requests(maxMessages: number): Generator<ModelRequest> {
  const history: StoredMessage[] = []
  const agent = {
    instructions: 'You help the customers of a shop. '.repeat(60),
    model: settings,
    context: { maxMessages },
    responseFormat: null,
  } as ModelAgent
  const said = (id: string, more: Pick<StoredMessage, 'role' | 'content'> & Partial<StoredMessage>) =>
    history.push({ id, runId: 'r', createdAt: 1, ...more })
  const older = { hidesOlder: false, summary: null }
  const all = { agent, history, ...older, files: new Map(), tools, sessionId: 's', correction: 1 }
  for (let run = 0; run < RUNS; run += 1) {
    const input = { instructions: [], context: [{ description: 'the page', value: `Order ${run}` }], notes: [] }
    const request = () => buildRequest({ ...all, input }).request
    said(`u${run}`, { role: 'user', content: `Question ${run}: ${'where is my order? '.repeat(5)}` })
    yield request()
    const call = { id: `c${run}`, type: 'function' as const, function: { name: 'find', arguments: `{"id":"${run}"}` } }
    said(`a${run}`, { role: 'assistant', content: '', toolCalls: [call] })
    said(`t${run}`, {
      role: 'tool',
      content: `Found ${run}: ${'a line of the order. '.repeat(20)}`,
      toolCallId: call.id,
    })
    yield request()
    said(`b${run}`, { role: 'assistant', content: `Answer ${run}: ${'it is on its way. '.repeat(10)}` })
  }
}

type Body = Readonly<Record<string, unknown>>
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])
const readings: Record<string, (request: ModelRequest) => unknown[]> = {
  anthropic(request) {
    const { tools, system, messages } = anthropicApi(settings).request(request).body as Body
    const turns = listOf(messages) as { role: string; content: object[] }[]
    return [
      ...listOf(tools),
      ...listOf(system),
      ...turns.flatMap(({ role, content }) => content.map((one) => ({ role, ...one }))),
    ]
  },
  openai(request) {
    const { tools, messages } = openAiApi(settings).request(request).body as Body
    return [...listOf(tools), ...listOf(messages)]
  },
  google(request) {
    const { tools, systemInstruction, contents } = googleApi(settings).request(request).body as Body
    const turns = listOf(contents) as { role: string; parts: object[] }[]
    return [
      ...listOf(tools),
      ...listOf(systemInstruction),
      ...turns.flatMap(({ role, parts }) => parts.map((one) => ({ role, ...one }))),
    ]
  },
}

const isMarked = (block: unknown): boolean => typeof block === 'object' && block !== null && 'cache_control' in block
const textOf = (block: unknown): string => JSON.stringify({ ...(block as object), cache_control: undefined })

for (const maxMessages of [1_000, 40]) {
  for (const [provider, read] of Object.entries(readings)) {
    const shares: number[] = []
    let before: unknown[] | null = null
    for (const request of requests(maxMessages)) {
      const now = read(request)
      if (before !== null) {
        const kept = provider === 'anthropic' ? before.slice(0, before.findLastIndex(isMarked) + 1) : before
        const same = kept.findIndex((block, i) => now[i] === undefined || textOf(block) !== textOf(now[i]))
        const size = (blocks: readonly unknown[]): number =>
          blocks.reduce<number>((sum, one) => sum + textOf(one).length, 0)
        shares.push(size(now.slice(0, same === -1 ? kept.length : same)) / size(now))
      }
      before = now
    }
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    const [middle, least] = [median(shares), Math.min(...shares)].map((share) => `${Math.round(share * 100)} %`)
    process.stdout.write(
      `${provider}, window of ${maxMessages} messages: median ${middle}, mean ${Math.round(mean * 100)} %, least ${least} of ${shares.length} pairs\n`,
    )
  }
}
