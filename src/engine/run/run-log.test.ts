import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import type { Model } from '../../models/model.ts'
import { openEngine, type TestEngineOptions, testTool } from '../testing/open-engine.ts'

const mail = testTool({ name: 'send_mail', call: async () => ({ content: 'Sent to Ada.', isError: false }) })
const callsMail = { parts: [{ tool_call: { name: 'send_mail' } }, { usage: { input: 10, output: 2 } }] }
const says = { parts: [{ text: 'It is done.' }, { usage: { input: 20, output: 3 } }] }
const prices = { input: 1, output: 10 }
const latency = { latency_ms: expect.any(Number) }

function open(options: TestEngineOptions) {
  const lines: LogLine[] = []
  return { lines, ...openEngine({ ...options, logger: recordingLogger(lines) }) }
}

test('a run and its calls are one line each, with the ids of the request, the session and the run', async () => {
  const server = open({ answers: [callsMail, says], tools: [mail] })
  const accepted = await server.start('Write to Ada', { correlationId: 'c-1' })
  await server.events(accepted)
  await server.close()

  const ids = { correlation_id: 'c-1', session_id: accepted.session.id, run_id: accepted.run.id }
  const call_id = expect.stringMatching(/^call_/)
  const call = { ...ids, agent: 'tester', tool: 'send_mail', call_id, ...latency, outcome: 'completed' }
  const tokens = { input_tokens: 30, output_tokens: 5 }
  const run = { ...ids, agent: 'tester', outcome: 'completed', tools: { send_mail: 1 }, ...tokens, ...latency }
  expect(server.lines).toEqual([
    { level: 'info', message: 'tool call', fields: call },
    { level: 'info', message: 'run', fields: run },
  ])
})

test('the cost is told where all prices are known', async () => {
  const model = { provider: 'scripted', name: 'script', contextWindow: 128_000, retries: 0 }
  const patience = { firstTokenTimeoutMs: 60_000, tokenTimeoutMs: 60_000 }
  const server = open({ answers: [says], agent: { model: { ...model, ...patience, prices } } })
  await server.events(await server.start('hi'))
  await server.close()
  expect(server.lines).toMatchObject([{ message: 'run', fields: { cost: 0.00005 } }])
})

test('a run that goes on because nobody answered keeps the ids of the first request', async () => {
  const asked = testTool({ ...mail, approval: { ask: 'always' } })
  const server = open({ answers: [callsMail, says], tools: [asked] })
  const accepted = await server.start('Write to Ada', { correlationId: 'c-1' })
  await server.events(accepted)
  const [approval] = await server.store.waits.list({ wait: 'approval', limit: 1 })
  if (approval === undefined) throw new Error('nothing was asked')
  await server.engine.waits.expire(approval)
  const run = (await server.store.runs.list(accepted.session.id)).at(-1)
  if (run === undefined) throw new Error('nothing goes on')
  await server.events({ ...accepted, run })
  await server.close()

  expect(run.id).not.toBe(accepted.run.id)
  expect(run.input.correlationId).toBe('c-1')
})

test('a wait for a person is a line, and what goes on after it has the ids of the answer', async () => {
  const asked = testTool({ ...mail, approval: { ask: 'always' } })
  const server = open({ answers: [callsMail, says], tools: [asked] })
  const accepted = await server.start('Write to Ada', { correlationId: 'c-1' })
  await server.events(accepted)
  const by = { user: 'op', role: 'operator' } as const
  const [approval] = await server.approvals.list({ by, limit: 1 })
  const { run } = await server.approvals.decide(by, approval?.id ?? '', { decision: 'approve' }, 'c-2')
  await server.events({ ...accepted, run })
  await server.close()

  const before = { correlation_id: 'c-1', session_id: accepted.session.id, run_id: accepted.run.id }
  const after = { correlation_id: 'c-2', session_id: accepted.session.id, run_id: run.id }
  expect(server.lines).toMatchObject([
    { level: 'info', message: 'waiting for a person', fields: { ...before, approval_id: approval?.id } },
    { level: 'info', message: 'run', fields: { ...before, outcome: 'waiting', approvals: ['send_mail'] } },
    { level: 'info', message: 'tool call', fields: { ...after, outcome: 'completed' } },
    { level: 'info', message: 'run', fields: { ...after, outcome: 'completed' } },
  ])
})

test('a run that fails is told with its reason', async () => {
  const model: Model = {
    provider: 'openai',
    name: 'gpt',
    async stream() {
      throw new ServerError('model_bad_request', 'The model server refused the request (400). It says: no.')
    },
    async check() {},
  }
  const server = open({ model })
  await server.events(await server.start('hi'))
  await server.close()
  const reason = 'The model server refused the request (400). It says: no.'
  const fields = { outcome: 'failed', code: 'model_bad_request', reason }
  expect(server.lines).toMatchObject([{ level: 'warn', message: 'run', fields }])
})

test('a queued run that is stopped leaves its line, with who stopped it', async () => {
  const slow = testTool({
    ...mail,
    call: (_request, signal) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
  })
  const server = open({ answers: [callsMail], tools: [slow] })
  const first = await server.start('one', { correlationId: 'c-1' })
  const second = await server.start('two', { correlationId: 'c-2', session: { existing: first.session } })
  await server.engine.runs.cancel(second.run, 'ada')
  await server.engine.runs.cancel(first.run, 'ada')
  await server.events(first)
  await server.close()
  const stopped = { outcome: 'cancelled', stopped_by: 'ada' }
  expect(server.lines.filter(({ message }) => message === 'run')).toMatchObject([
    { level: 'info', fields: { ...stopped, correlation_id: 'c-2', run_id: second.run.id } },
    { level: 'info', fields: { ...stopped, correlation_id: 'c-1', run_id: first.run.id } },
  ])
})

test('a run that had to wait for another keeps the id of its own request', async () => {
  const server = open({ answers: [says, says] })
  const first = await server.start('one', { correlationId: 'c-1' })
  const second = await server.start('two', { correlationId: 'c-2', session: { existing: first.session } })
  await server.events(second)
  await server.close()
  expect(second.run.status).toBe('queued')
  expect(server.lines.map(({ fields }) => [fields.correlation_id, fields.run_id])).toEqual([
    ['c-1', first.run.id],
    ['c-2', second.run.id],
  ])
})
