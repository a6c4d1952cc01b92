// A tool that asks a person twice, and a server that is killed between each question and its answer.

import { expect, onTestFinished, test } from 'vitest'
import { databaseFaults } from './support/database.ts'
import { approval, approvals, endOf, eventsOf, operatorEnv, respond, type ShownApproval } from './support/operator.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { openYard, type TestServer } from './support/start-server.ts'
import { until } from './support/until.ts'

const source = `
export async function order(_args: unknown, context: { ask(question: { message: string }): Promise<string> }) {
  const size = await context.ask({ message: 'Which size?' })
  const note = await context.ask({ message: 'A note?' })
  return 'Ordered ' + size + ': ' + note
}
`
const tool = {
  type: 'function',
  name: 'order',
  description: 'Orders a shirt.',
  file: 'order.ts',
  parameters: { shop: { type: 'string' } },
  approval: 'never',
  // A call that is cut off may be made again, so that each kill has one outcome.
  effect: 'idempotent',
}

async function pendingOne(server: TestServer, notId = ''): Promise<ShownApproval> {
  let found: ShownApproval | undefined
  await until('a question waits', async () => {
    found = (await approvals(server.url)).find((one) => one.status === 'pending' && one.approval_id !== notId)
    return found !== undefined
  })
  if (found === undefined) throw new Error('not there')
  return found
}

test('kill -9 between questions and answers loses neither, and the call ends with both answers', async () => {
  const yard = await openYard(onTestFinished, {
    files: { 'order.ts': source },
    agent: { tools: [tool] },
    answers: [
      { when: 'a shirt', parts: [{ tool_call: { name: 'order', arguments: { shop: 'ulm' } } }] },
      { parts: [{ text: 'Well.' }] },
    ],
  })
  const start = () => yard.start({ flags: ['--log-level', 'warn'], env: operatorEnv })

  const first = await start()
  const asked = await record({ url: first.url, method: 'POST', body: runInput('t', 'r', 'Order a shirt.') }).done
  expect(endOf(asked.frames)).toEqual({ outcome: 'interrupt' })
  const size = await pendingOne(first)
  await first.kill()

  // The answer is acknowledged, and the server dies before or while the call is made again.
  const second = await start()
  expect(await respond(second.url, size.approval_id, 'L')).toBe(200)
  await second.kill()
  expect(await databaseFaults(yard)).toEqual([])

  const third = await start()
  expect((await approval(third.url, size.approval_id)).status).toBe('answered')
  expect(await respond(third.url, size.approval_id, 'S')).toBe(409)
  const { continuation_run_id: again } = await approval(third.url, size.approval_id)
  expect(endOf(await eventsOf(third.url, again ?? ''))).toEqual({ outcome: 'interrupt' })
  const note = await pendingOne(third, size.approval_id)
  expect(await respond(third.url, note.approval_id, 'Thanks')).toBe(200)
  const { continuation_run_id: runId } = await approval(third.url, note.approval_id)
  const frames = await eventsOf(third.url, runId ?? '')
  expect(endOf(frames)).toEqual({ outcome: 'success' })
  expect(frames.some(({ data }) => data.includes('Ordered L: Thanks'))).toBe(true)
})
