import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createRedaction } from '../engine/middleware/middleware.ts'
import { testAgent, testTool } from '../engine/testing/open-engine.ts'
import type { ScriptedAnswer } from '../models/scripted/script.ts'
import { openOtlpReceiver, type SentSpan } from './testing/otlp-receiver.ts'
import { openTracedApp } from './testing/traced-app.ts'
import { runSpanId } from './trace-context.ts'

const CALLER = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${CALLER}-00f067aa0ba902b7-01`
const OTHER = '0af7651916cd43dd8448eb211c80319c'
const Accepted = z.object({ run_id: z.string() })

const lookup = testTool({ name: 'lookup', call: async () => ({ content: 'It rains.', isError: false }) })
const rain: ScriptedAnswer[] = [
  { parts: [{ tool_call: { name: 'lookup', arguments: { city: 'Paris' } } }, { usage: { input: 10, output: 4 } }] },
  { parts: [{ text: 'It rains in Paris.' }, { usage: { input: 20, output: 5 } }] },
]

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-telemetry-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const named = (spans: readonly SentSpan[], name: string): SentSpan[] => spans.filter((span) => span.name === name)

function one(spans: readonly SentSpan[], name: string): SentSpan {
  const [span, ...more] = named(spans, name)
  if (span === undefined || more.length > 0) throw new Error(`${named(spans, name).length} spans are called ${name}`)
  return span
}

/** Each span with those below it, in the order in which they ended. */
function tree(spans: readonly SentSpan[], parent: string): unknown[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .map(({ name, spanId }) => {
      const below = tree(spans, spanId)
      return below.length === 0 ? name : [name, ...below]
    })
}

describe('a message', () => {
  test('is one trace, from the caller through the request and the run to models and tools', async () => {
    await using receiver = await openOtlpReceiver()
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20secret',
      OTEL_SERVICE_NAME: 'weather',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    }
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers: rain, tools: [lookup] })
    const sent = await app.send('/sessions/talk/messages', { message: 'What about Paris?' }, { traceparent })
    const { run_id: runId } = Accepted.parse(sent)
    await app.ended(runId)
    await app.close({ drainMs: 0 })

    const { spans } = receiver
    expect(new Set(named(spans, 'chat script').map(({ traceId }) => traceId))).toEqual(new Set([CALLER]))
    expect(tree(spans, '00f067aa0ba902b7')).toEqual([
      ['POST /sessions/:id/messages', ['invoke_agent tester', 'chat script', 'execute_tool lookup', 'chat script']],
    ])
    const run = one(spans, 'invoke_agent tester')
    expect([run.spanId, run.kind, run.attributes]).toEqual([
      runSpanId(runId, 1),
      1,
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'tester',
        'gen_ai.agent.description': 'An agent for tests.',
        'gen_ai.provider.name': 'scripted',
        'gen_ai.request.model': 'script',
        'gen_ai.conversation.id': expect.any(String),
        'quarterdeck.run.id': runId,
        'quarterdeck.run.origin': 'background',
        'quarterdeck.run.outcome': 'completed',
        'gen_ai.usage.input_tokens': 30,
        'gen_ai.usage.output_tokens': 9,
      },
    ])
    expect(named(spans, 'chat script').map(({ kind, attributes }) => [kind, attributes])).toEqual(
      [
        ['tool_calls', 10, 4],
        ['stop', 20, 5],
      ].map(([finish, input, output]) => [
        3,
        {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'scripted',
          'gen_ai.request.model': 'script',
          'gen_ai.agent.name': 'tester',
          'gen_ai.request.stream': true,
          'gen_ai.response.time_to_first_chunk': expect.any(Number),
          'gen_ai.response.finish_reasons': [finish],
          'gen_ai.usage.input_tokens': input,
          'gen_ai.usage.output_tokens': output,
        },
      ]),
    )
    expect(one(spans, 'execute_tool lookup').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'lookup',
      'gen_ai.tool.call.id': expect.any(String),
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'A tool for tests.',
      'quarterdeck.tool.outcome': 'completed',
    })
    expect(one(spans, 'POST /sessions/:id/messages').attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/sessions/:id/messages',
      'http.response.status_code': 202,
    })
    expect(receiver.resources[0]).toMatchObject({
      'service.name': 'weather',
      'service.version': '1.2.3',
      'service.instance.id': expect.any(String),
      'deployment.environment.name': 'test',
    })
    expect(receiver.headers[0]).toMatchObject({ 'x-key': 'a secret' })
  })

  test('gives its trace to the lines of the log, and the lines go out too', async () => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers: rain, tools: [lookup] })
    const sent = await app.send('/sessions/talk/messages', { message: 'Paris?' }, { traceparent })
    await app.ended(Accepted.parse(sent).run_id)
    await app.close({ drainMs: 0 })

    const run = one(receiver.spans, 'invoke_agent tester')
    const tool = one(receiver.spans, 'execute_tool lookup')
    const request = one(receiver.spans, 'POST /sessions/:id/messages')
    const traced = ['run', 'request', 'tool call', 'model call']
    const written = app.lines
      .filter(({ message, trace_id: id }) => traced.includes(String(message)) && id === CALLER)
      .map(({ message, span_id: span }) => ({ message, span }))
    expect(written).toContainEqual({ message: 'run', span: run.spanId })
    expect(written).toContainEqual({ message: 'request', span: request.spanId })
    const lines = receiver.lines
      .filter(({ traceId }) => traceId === CALLER)
      .map(({ message, spanId }) => ({ message, span: spanId }))
    expect(lines).toEqual(
      app.lines.filter(({ trace_id: id }) => id === CALLER).map(({ message, span_id: span }) => ({ message, span })),
    )
    expect(receiver.lines.find(({ message }) => message === 'run')).toMatchObject({
      level: 'INFO',
      attributes: { agent: 'tester', outcome: 'completed', input_tokens: 30 },
    })
    expect(tool.traceId).toBe(CALLER)
  })

  test('is measured, and the metrics go out as they are on the page', async () => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics` }
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers: rain, tools: [lookup] })
    await app.ended(Accepted.parse(await app.send('/sessions/talk/messages', { message: 'Paris?' })).run_id)
    const page = await (await fetch(`${app.url}/metrics`)).text()
    await app.close({ drainMs: 0 })

    const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="script"'
    expect(page).toContain(`gen_ai_client_operation_duration_seconds_count{${labels},error_type=""} 2`)
    expect(page).toContain(`gen_ai_client_operation_time_to_first_chunk_seconds_count{${labels}} 2`)
    expect(page).toContain(`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 30`)
    const model = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'script',
    }
    const tokens = receiver.metrics.get('gen_ai.client.token.usage')
    expect(tokens?.map(({ attributes, value, buckets }) => [attributes, value, buckets.slice(0, 5)])).toEqual([
      [{ ...model, 'gen_ai.token.type': 'input' }, 2, [0, 0, 1, 1, 0]],
      [{ ...model, 'gen_ai.token.type': 'output' }, 2, [0, 1, 1, 0, 0]],
    ])
    expect(receiver.metrics.get('gen_ai.client.operation.duration')?.[0]?.attributes).toEqual(model)
    expect(receiver.metrics.get('quarterdeck_runs_started_total')).toMatchObject([{ value: 1 }])
    // Only the metrics were asked for.
    expect([receiver.spans, receiver.lines]).toEqual([[], []])
  })

  test('shows what a client sent as context, as the model was told it: last', async () => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const yaml = 'telemetry: { content: true }'
    const answers = [{ parts: [{ text: 'Yes.' }] }]
    const app = await openTracedApp({ dataDir: emptyFolder(), env, yaml, answers })
    const context = [{ description: 'the page', value: 'Order 7' }]
    const messages = [{ id: 'm', role: 'user', content: 'Is it there?' }]
    const input = { threadId: 't', runId: 'r', state: {}, messages, tools: [], context, forwardedProps: {} }
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
    await fetch(`${app.url}/`, { method: 'POST', headers, body: JSON.stringify(input) }).then((answer) => answer.text())
    await app.close({ drainMs: 0 })

    const { attributes } = one(receiver.spans, 'chat script')
    expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Is it there?' }] },
      { role: 'user', parts: [{ type: 'text', content: expect.stringContaining('Order 7') }] },
    ])
  })

  test('shows what was said only if the settings allow it, without secrets and cut', async () => {
    await using receiver = await openOtlpReceiver()
    const answers: ScriptedAnswer[] = [{ parts: [{ text: `The code is 4711. ${'x'.repeat(500)}` }] }]
    const app = await openTracedApp({
      dataDir: emptyFolder(),
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      yaml: 'telemetry: { content: true, content_chars: 400 }',
      answers,
      more: { middleware: [createRedaction([/\d{4}/])] },
    })
    const text = 'My pin is 1234 and my key is sk-abcdefghijkl.'
    await app.ended(Accepted.parse(await app.send('/sessions/talk/messages', { message: text })).run_id)
    await app.close({ drainMs: 0 })

    const { attributes } = one(receiver.spans, 'chat script')
    const spans = JSON.stringify(receiver.spans)
    // Ids are random, and may have the same digits.
    for (const secret of ['pin is 1234', 'code is 4711', 'sk-abc']) expect(spans).not.toContain(secret)
    expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'My pin is [redacted] and my key is [masked].' }] },
    ])
    const output = String(attributes['gen_ai.output.messages'])
    expect(output.length).toBeLessThan(400)
    expect(JSON.parse(output)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'text', content: expect.stringMatching(/^The code is \[redacted\].*…$/) }] },
    ])
    expect(JSON.parse(String(attributes['gen_ai.system_instructions']))).toEqual([
      { type: 'text', content: expect.stringContaining('You are a test.') },
    ])
  })

  test('that the caller does not want to keep is not sent, and the caller’s decision goes on', async () => {
    await using receiver = await openOtlpReceiver()
    const seen: unknown[] = []
    const tell = testTool({
      name: 'lookup',
      async call({ trace }) {
        seen.push(trace)
        return { content: 'It rains.', isError: false }
      },
    })
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces` }
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers: rain, tools: [tell] })
    const headers = { traceparent: `00-${CALLER}-00f067aa0ba902b7-00`, tracestate: 'vendor=1' }
    const sent = await app.send('/sessions/talk/messages', { message: 'Paris?' }, headers)
    await app.ended(Accepted.parse(sent).run_id)
    await app.close({ drainMs: 0 })

    expect(named(receiver.spans, 'invoke_agent tester')).toEqual([])
    expect(seen).toEqual([
      { traceparent: expect.stringMatching(new RegExp(`^00-${CALLER}-[0-9a-f]{16}-00$`)), tracestate: 'vendor=1' },
    ])
  })
})

describe('work that goes on', () => {
  test('after an approval stays in its trace, and names the run that waited and the request that answered', async () => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const careful = { ...lookup, effect: 'once' as const, risk: 'high' as const }
    const agent = { approval: { ...testAgent.approval, default: { ask: 'always' as const } } }
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers: rain, tools: [careful], agent })
    const { run_id: first } = Accepted.parse(
      await app.send('/sessions/talk/messages', { message: 'Paris?' }, { traceparent }),
    )
    await app.ended(first)
    const authorization = `Bearer ${app.tokens.operatorToken}`
    const { approvals } = z
      .object({ approvals: z.array(z.object({ approval_id: z.string() })) })
      .parse(await (await fetch(`${app.url}/approvals`, { headers: { authorization } })).json())
    const approvalId = approvals[0]?.approval_id
    const answered = `00-${OTHER}-b7ad6b7169203331-01`
    await app.send(`/approvals/${approvalId}`, { decision: 'approve' }, { authorization, traceparent: answered })
    const run = await app.engine.runs.get('local_user', first)
    const next = await app.engine.runs.continuation(run)
    await app.ended(next?.id ?? '')
    await app.close({ drainMs: 0 })

    const [waited, went] = named(receiver.spans, 'invoke_agent tester')
    const request = one(receiver.spans, 'POST /sessions/:id/messages')
    const decision = one(receiver.spans, 'POST /approvals/:id')
    expect(waited).toMatchObject({
      traceId: CALLER,
      spanId: runSpanId(first, 1),
      attributes: { 'quarterdeck.run.outcome': 'waiting' },
      events: [
        {
          name: 'quarterdeck.wait',
          attributes: {
            'quarterdeck.wait.id': approvalId,
            'quarterdeck.wait.kind': 'approval',
            'gen_ai.tool.name': 'lookup',
          },
        },
      ],
    })
    expect(decision.traceId).toBe(OTHER)
    expect(went).toMatchObject({
      traceId: CALLER,
      parentSpanId: request.spanId,
      attributes: { 'quarterdeck.run.id': next?.id, 'quarterdeck.run.outcome': 'completed' },
      links: [
        { traceId: CALLER, spanId: waited?.spanId },
        { traceId: OTHER, spanId: decision.spanId },
      ],
    })
  })

  test.each([
    ['a crash', { crashed: true }],
    ['a stop', { crashed: false }],
  ])('in another process after %s stays in its trace, and names the span before it', async (_, how) => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const dataDir = emptyFolder()
    const before = await openTracedApp({ dataDir, env, answers: [{ parts: [{ text: 'I' }, { hang: true }] }] })
    const { run_id: runId } = Accepted.parse(
      await before.send('/sessions/talk/messages', { message: 'Paris?' }, { traceparent }),
    )
    await before.close({ drainMs: 0, ...how })
    const after = await openTracedApp({ dataDir, env, answers: [{ parts: [{ text: 'It rains.' }] }] })
    await after.ended(runId)
    await after.close({ drainMs: 0 })

    const [cut, resumed] = named(receiver.spans, 'invoke_agent tester')
    const request = one(receiver.spans, 'POST /sessions/:id/messages')
    expect(cut).toMatchObject({ spanId: runSpanId(runId, 1), attributes: { 'quarterdeck.run.outcome': 'suspended' } })
    expect(resumed).toMatchObject({
      traceId: CALLER,
      parentSpanId: request.spanId,
      attributes: { 'quarterdeck.run.origin': 'recovery', 'quarterdeck.run.outcome': 'completed' },
      links: [{ traceId: CALLER, spanId: cut?.spanId }],
    })
    const instances = new Set(receiver.resources.map((one) => one['service.instance.id']))
    expect(instances.size).toBe(2)
  })

  test('and that no request began has the trace of its own id', async () => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers: [{ parts: [{ text: 'Hi.' }] }] })
    const { run } = await app.engine.runs.start({
      owner: 'local_user',
      agent: null,
      session: { create: {} },
      origin: 'background',
      input: {
        messages: [{ id: 'm1', role: 'user', content: 'Hello' }],
        instructions: [],
        context: [],
        clientTools: [],
      },
    })
    await app.ended(run.id)
    await app.close({ drainMs: 0 })

    expect(one(receiver.spans, 'invoke_agent tester')).toMatchObject({
      traceId: run.id.replaceAll('-', ''),
      parentSpanId: null,
      links: [],
    })
  })
})

describe('a failure', () => {
  test('is the code of the error, and never its words', async () => {
    await using receiver = await openOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const answers: ScriptedAnswer[] = [{ parts: [{ error: { code: 'model_refused', message: 'I will not say it.' } }] }]
    const app = await openTracedApp({ dataDir: emptyFolder(), env, answers })
    await app.ended(Accepted.parse(await app.send('/sessions/talk/messages', { message: 'Say it.' })).run_id)
    await app.close({ drainMs: 0 })

    for (const name of ['chat script', 'invoke_agent tester']) {
      const { isError, attributes } = one(receiver.spans, name)
      expect([isError, attributes['error.type']]).toEqual([true, 'model_refused'])
    }
    expect(JSON.stringify(receiver.spans)).not.toContain('I will not')
  })
})
