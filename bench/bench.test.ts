import { createServer as createHttpServer } from 'node:http'
import type { Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type LoadDoorName, loadDoors } from './door.ts'
import { createFakeModel } from './fake-model.ts'
import { createFloor } from './floor.ts'
import { listen } from './listen.ts'
import { type LoadOptions, type LoadReport, runLoad } from './load.ts'
import { tokenText } from './token.ts'

const servers: Server[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))))
})

async function open(server: Server): Promise<string> {
  servers.push(server)
  return `http://127.0.0.1:${await listen(server, 0)}`
}

/** The floor in front of the fake model. */
async function openFloor(): Promise<string> {
  return open(createFloor(`${await open(createFakeModel())}/v1`))
}

/** An AG-UI server that answers every run with these events. */
async function openScripted(events: readonly object[], head = { status: 200, end: true }): Promise<string> {
  const server = createHttpServer((req, res) => {
    req.resume()
    res.writeHead(head.status, { 'content-type': 'text/event-stream' })
    for (const [index, event] of events.entries()) res.write(`id: s.${index}\ndata: ${JSON.stringify(event)}\n\n`)
    if (head.end) res.end()
  })
  return open(server)
}

/** A server that answers every request with this. */
async function openPlain(body: string): Promise<string> {
  return open(
    createHttpServer((req, res) => {
      req.resume()
      res.end(body)
    }),
  )
}

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

function load(url: string, options: Partial<LoadOptions> = {}): Promise<LoadReport> {
  return runLoad({
    url: `${url}/`,
    door: 'ag-ui',
    parallel: 1,
    runs: 1,
    message: `full tokens:${options.tokens ?? 2}`,
    tokens: 2,
    threads: 0,
    prefix: 'test',
    rampMs: 0,
    stallMs: 10_000,
    ...options,
  })
}

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const content = (...indexes: number[]): object => ({
  type: 'TEXT_MESSAGE_CONTENT',
  messageId: 'm',
  delta: indexes.map((index) => tokenText(index, 0)).join(''),
})
const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }

describe('floor, fake model and load client together', () => {
  test('five runs at full speed arrive complete', async () => {
    const { seconds, cpuSeconds, firstEventMs, ...report } = await load(await openFloor(), {
      runs: 5,
      parallel: 2,
      tokens: 200,
    })

    expect(firstEventMs?.p50).toBeLessThan(seconds * 1_000)
    expect(report).toEqual({ runs: 5, failed: 0, failures: {}, tokens: 1000, contentEvents: 1000, delayMs: null })
  })

  test('paced tokens show how long they took', async () => {
    const report = await load(await openFloor(), { message: 'paced:1000 tokens:20', tokens: 20 })

    expect({ failed: report.failed, tokens: report.tokens }).toEqual({ failed: 0, tokens: 20 })
    expect(report.delayMs?.p50).toBeGreaterThan(0)
  })

  test('an answer with one token too few is a failure', async () => {
    const report = await load(await openFloor(), { message: 'full tokens:199', tokens: 200 })

    expect(report.failures).toEqual({ '199 of 200 tokens': 1 })
  })
})

describe('the load client at a door', () => {
  const tokens = tokenText(0, 0) + tokenText(1, 0)
  const message = { content: tokens }
  const answers: [LoadDoorName, string][] = [
    [
      'agent',
      sse(
        { session_id: 's', message_id: 'm' },
        { delta: tokens, message_id: 'm' },
        { message_id: 'm', tokens_used: null, execution_time_ms: 1 },
      ),
    ],
    ['threads', sse({ event: 'token', token: tokens }, { event: 'message_complete', message })],
    [
      'completions',
      `${sse(
        { choices: [{ delta: { role: 'assistant', content: '' } }] },
        { choices: [{ delta: message }] },
        { choices: [{ delta: {}, finish_reason: 'stop' }] },
        { choices: [], usage: {} },
      )}data: [DONE]\n\n`,
    ],
    [
      'responses',
      sse(
        { type: 'response.created', response: { error: null } },
        { type: 'response.output_text.delta', delta: tokens },
        { type: 'response.output_text.done', text: tokens },
        { type: 'response.completed', response: { error: null } },
      ),
    ],
    ['agent-whole', JSON.stringify(message)],
    ['chat-whole', JSON.stringify({ message: tokens })],
    ['threads-whole', JSON.stringify({ message })],
    ['completions-whole', JSON.stringify({ choices: [{ message }] })],
    ['responses-whole', JSON.stringify({ output: [{ content: [{ text: tokens }] }] })],
  ]

  test.each(answers)('reads a whole answer of %s, and notices a missing token', async (door, answer) => {
    expect((await load(await openPlain(answer), { door })).failures).toEqual({})
    const short = answer.replaceAll(tokens, tokenText(0, 0))
    expect((await load(await openPlain(short), { door })).failures).toEqual({ '1 of 2 tokens': 1 })
  })

  test.each(answers.filter(([door]) => loadDoors[door].streams))(
    'notices a stream of %s without its end',
    async (door, answer) => {
      const cut = answer.slice(0, answer.trimEnd().lastIndexOf('\n\n') + 2)
      expect((await load(await openPlain(cut), { door })).failures).toEqual({ 'no terminal event': 1 })
    },
  )

  test.each<[LoadDoorName, object, string]>([
    ['agent', { code: 'model_failed' }, 'model_failed'],
    ['threads', { event: 'error', error_type: 'llm' }, 'llm'],
    ['completions', { error: { code: 'model_failed' } }, 'model_failed'],
    ['responses', { type: 'response.failed', response: { error: { code: 'model_failed' } } }, 'model_failed'],
  ])('notices a run of %s that failed', async (door, event, code) => {
    const [, answer = ''] = answers.find(([name]) => name === door) ?? []
    const begun = answer.slice(0, answer.trimEnd().lastIndexOf('\n\n') + 2)
    expect((await load(await openPlain(begun + sse(event)), { door })).failures).toEqual({ [`RUN_ERROR ${code}`]: 1 })
  })
})

describe('the load client', () => {
  const cases: [string, object[], string][] = [
    ['a missing terminal event', [started, content(0), content(1)], 'no terminal event'],
    ['a missing last token', [started, content(0), finished], '1 of 2 tokens'],
    ['a missing first token', [started, content(1), finished], 'a token is missing, doubled or out of order'],
    ['tokens out of order', [started, content(1, 0), finished], 'a token is missing, doubled or out of order'],
    ['a doubled token', [started, content(0, 0, 1), finished], 'a token is missing, doubled or out of order'],
    [
      'a cut token',
      [started, { ...content(0), delta: ' 0@0 1' }, finished],
      'a delta that is not made of whole tokens',
    ],
    [
      'a stream that begins with something else',
      [content(0, 1), started, finished],
      'the first event is TEXT_MESSAGE_CONTENT',
    ],
    ['an event after the end', [started, content(0, 1), finished, finished], 'RUN_FINISHED after RUN_FINISHED'],
    [
      'a run that failed',
      [started, { type: 'RUN_ERROR', message: 'x', code: 'model_failed' }],
      'RUN_ERROR model_failed',
    ],
  ]
  test.each(cases)('notices %s', async (_, events, problem) => {
    const report = await load(await openScripted(events))

    expect({ runs: report.runs, failed: report.failed, failures: report.failures }).toEqual({
      runs: 1,
      failed: 1,
      failures: { [problem]: 1 },
    })
  })

  test('accepts merged deltas and counts them', async () => {
    const report = await load(await openScripted([started, content(0, 1), finished]), { runs: 3 })

    expect({ ...report, seconds: 0, cpuSeconds: 0, firstEventMs: null }).toEqual({
      runs: 3,
      failed: 0,
      failures: {},
      tokens: 6,
      contentEvents: 3,
      seconds: 0,
      delayMs: null,
      firstEventMs: null,
      cpuSeconds: 0,
    })
  })

  test('reports the status and the text of a refusal', async () => {
    const report = await load(await openScripted([{ code: 'not_ready' }], { status: 503, end: true }))

    expect(report.failures).toEqual({ 'HTTP 503: id: s.0\ndata: {"code":"not_ready"}\n\n': 1 })
  })

  test('starts a run at one server and follows it at another', async () => {
    const whole = [started, content(0, 1), finished]
    const startAt = `${await openScripted(whole)}/`
    expect((await load(await openScripted(whole), { startAt })).failures).toEqual({})
    expect((await load(await openScripted([started, content(0), finished]), { startAt })).failures).toEqual({
      '1 of 2 tokens': 1,
    })
    const broken = `${await openScripted([started])}/`
    expect((await load(await openScripted(whole), { startAt: broken })).failures).toEqual({ 'no terminal event': 1 })
  })

  test('gives up a stream that sends nothing', async () => {
    const report = await load(await openScripted([started], { status: 200, end: false }), { stallMs: 50 })

    expect(report.failures).toEqual({ 'silent for 0.05 s': 1 })
  })

  test('reports a server that is not there', async () => {
    const url = await open(createHttpServer())
    await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))))

    const report = await load(url)

    expect(report.failures).toEqual({ [`the connection failed: connect ECONNREFUSED ${new URL(url).host}`]: 1 })
  })
})
