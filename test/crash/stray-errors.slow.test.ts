// When a tool's code leaves an error uncaught, its own call fails and the server stays up. An error outside of any call still ends the
// server.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { endOf } from './support/operator.ts'
import { runInput } from './support/run-input.ts'
import { type Frame, record } from './support/sse-recorder.ts'
import { openYard, type TestServer } from './support/start-server.ts'
import { until } from './support/until.ts'

const source = `
import { EventEmitter } from 'node:events'
import { createReadStream, existsSync, readFile } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

const fail = () => { throw new Error('nobody hears this') }
const rejects = async () => { await sleep(1); fail() }
const ways: Record<string, (signal: AbortSignal) => void> = {
  'an async function that nobody awaits': () => void rejects(),
  'a promise that a timer rejects': () => void new Promise((_, reject) => setTimeout(() => reject(new Error('x')), 1)),
  'a rejection at once': () => void Promise.reject(new Error('x')),
  'a throw in a timer': () => void setTimeout(fail, 1),
  'a throw in a microtask': () => queueMicrotask(fail),
  'a throw in a callback': () => readFile('/nowhere', fail),
  'an emitter without a listener': () => void setTimeout(() => new EventEmitter().emit('error', new Error('x')), 1),
  'a stream without a listener': () => void createReadStream('/nowhere'),
  'a socket without a listener': () => void connect(1, '127.0.0.1'),
  'a worker that dies': () => void new Worker('throw new Error("x")', { eval: true }),
}

/** Leaves an error to nobody and works on. */
export async function stray({ way }, { signal }) {
  ways[way]?.(signal)
  await sleep(60_000, null, { signal })
  return 'Late.'
}

/** Ends, and fails after that. */
export async function late({ times }) {
  for (let i = 0; i < times; i += 1) setTimeout(fail, 20)
  return 'Done.'
}

/** A listener that throws when the call is over time. */
export async function slow(_args, { signal }) {
  signal.addEventListener('abort', fail)
  await new Promise(() => {})
}

// Does not belong to any call.
setInterval(() => existsSync('fail-now') && fail(), 20).unref()
`

const ways = [
  'an async function that nobody awaits',
  'a promise that a timer rejects',
  'a rejection at once',
  'a throw in a timer',
  'a throw in a microtask',
  'a throw in a callback',
  'an emitter without a listener',
  'a stream without a listener',
  'a socket without a listener',
  'a worker that dies',
]

async function openHouse() {
  const tool = (name: string, timeout: string) => ({
    type: 'function',
    name,
    description: 'Leaves an error to nobody.',
    file: 'strays.ts',
    parameters: { way: { type: 'string', optional: true }, times: { type: 'number', optional: true } },
    effect: 'once',
    timeout,
  })
  const call = (name: string, args: Record<string, unknown>) => ({ tool_call: { name, arguments: args } })
  const yard = await openYard(onTestFinished, {
    files: { 'strays.ts': source },
    agent: {
      tools: [tool('stray', '120s'), tool('late', '120s'), tool('slow', '1s')],
      approval: { default: 'never' },
      limits: { parallel_calls: 16 },
    },
    answers: [
      { when: 'all;', parts: ways.map((way) => call('stray', { way })) },
      { when: 'late;', parts: [call('late', { times: 5 })] },
      { when: 'slow;', parts: [call('slow', {})] },
      { parts: [{ text: 'Well.' }] },
    ],
  })
  return { yard, server: await yard.start({ flags: ['--log-level', 'warn'] }) }
}

const ask = async (server: TestServer, name: string): Promise<Frame[]> =>
  (await record({ url: server.url, method: 'POST', body: runInput(name, name, `${name};`) }).done).frames

const resultsIn = (frames: readonly Frame[]): string[] =>
  frames
    .map(({ data }) => JSON.parse(data))
    .flatMap((event) => (event.type === 'TOOL_CALL_RESULT' ? [event.content] : []))

const metric = async (server: TestServer, line: string): Promise<boolean> =>
  (await record({ url: `${server.url}/metrics` }).done).body.includes(line)

describe('an uncaught error of a tool', () => {
  test('ends its own call while that is open, however it is thrown', async () => {
    const { server } = await openHouse()
    const frames = await ask(server, 'all')
    expect(resultsIn(frames)).toEqual(ways.map(() => 'The tool failed.'))
    expect(endOf(frames)).toEqual({ outcome: 'success' })
    expect(endOf(await ask(server, 'again'))).toEqual({ outcome: 'success' })
  })

  test('is logged and counted when its call has ended', async () => {
    const { server } = await openHouse()
    expect(resultsIn(await ask(server, 'late'))).toEqual(['Done.'])
    await until('all are counted', () => metric(server, 'quarterdeck_late_tool_errors_total{tool="late"} 5'))
    await until('it is logged', () => server.log().includes('a tool failed after its call had ended'))
    expect(resultsIn(await ask(server, 'slow'))).toEqual(['The tool did not answer within 1 s.'])
    await until('it is counted', () => metric(server, 'quarterdeck_late_tool_errors_total{tool="slow"} 1'))
    expect(endOf(await ask(server, 'again'))).toEqual({ outcome: 'success' })
  })

  test('ends the server with 70 when it belongs to no call', async () => {
    const { yard, server } = await openHouse()
    writeFileSync(join(yard.directory, 'fail-now'), '')
    expect((await server.exited).code).toBe(70)
  })
})
