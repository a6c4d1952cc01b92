import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openTestDatabase } from '../../test/postgres/test-database.ts'
import { testAgent, testTool } from '../engine/testing/open-engine.ts'
import { openOtlpReceiver } from './testing/otlp-receiver.ts'
import { openTracedApp } from './testing/traced-app.ts'
import { runSpanId } from './trace-context.ts'

const CALLER = '4bf92f3577b34da6a3ce929d0e0e4736'

test('one trace shows a request that two replicas have worked on', async () => {
  const { url, drop } = await openTestDatabase()
  onTestFinished(drop)
  await using receiver = await openOtlpReceiver()
  const lookup = testTool({
    name: 'lookup',
    effect: 'once',
    call: async () => ({ content: 'It rains.', isError: false }),
  })
  const token = 'an-operators-token-for-both'
  async function replica() {
    const dataDir = mkdtempSync(join(tmpdir(), 'quarterdeck-replica-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const app = await openTracedApp({
      dataDir,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        QUARTERDECK_STORE: url,
        QUARTERDECK_OPERATOR_TOKEN: token,
      },
      answers: [
        { parts: [{ tool_call: { name: 'lookup', arguments: {} } }] },
        // Each replica has a script of its own.
        { when: { tool: 'It rains.' }, parts: [{ text: 'It rains.' }] },
      ],
      tools: [lookup],
      agent: { approval: { ...testAgent.approval, default: { ask: 'always' } } },
    })
    onTestFinished(() => app.close({ drainMs: 0 }))
    return app
  }
  const one = await replica()
  const other = await replica()
  const { run_id: first } = z.object({ run_id: z.string() }).parse(
    await one.send(
      '/sessions/talk/messages',
      { message: 'Paris?' },
      {
        traceparent: `00-${CALLER}-00f067aa0ba902b7-01`,
      },
    ),
  )
  await other.ended(first)
  const headers = { authorization: `Bearer ${token}` }
  const { approvals } = z
    .object({ approvals: z.array(z.object({ approval_id: z.string() })) })
    .parse(await (await fetch(`${other.url}/approvals`, { headers })).json())
  await other.send(`/approvals/${approvals[0]?.approval_id}`, { decision: 'approve' }, headers)
  const next = await other.engine.runs.continuation(await other.engine.runs.get('local_user', first))
  await one.ended(next?.id ?? '')
  await Promise.all([one.close({ drainMs: 0 }), other.close({ drainMs: 0 })])

  const runs = receiver.spans.filter(({ name }) => name === 'invoke_agent tester')
  const [waited, went] = runs.toSorted((a, b) => a.links.length - b.links.length)
  expect(runs.map(({ traceId }) => traceId)).toEqual([CALLER, CALLER])
  expect(waited).toMatchObject({ spanId: runSpanId(first, 1), attributes: { 'quarterdeck.run.outcome': 'waiting' } })
  expect(went?.links[0]).toEqual({ traceId: CALLER, spanId: waited?.spanId })
  expect(went?.parentSpanId).toBe(waited?.parentSpanId)
  expect(waited?.instance).not.toBe(went?.instance)
})
