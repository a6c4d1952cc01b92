// Questions of tools, answers in the place of tools and refusals in advance, at the doors.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSocketFetch } from '../../../cli/commands/ctl/ctl-server.ts'
import { outline, testTool } from '../../../engine/testing/open-engine.ts'
import { asOperator, eventsOf, refusalOf } from '../../testing/open-doors.ts'
import { calls, interruptsOf, openGatedDoors, says } from '../../testing/open-gated-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'
import { ApprovalSchema } from '../records/kinds/approval.ts'
import { GrantSchema, ShownApprovalSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openGatedDoors>>

const schema = { type: 'object', properties: { size: { enum: ['S', 'L'] } }, required: ['size'] }

/** Asks for a size before it answers. */
const order = testTool({
  name: 'order',
  effect: 'once',
  async call({ answers: [given] }) {
    if (given === undefined) return { content: '', isError: false, question: { message: 'Which size?', schema } }
    return { content: JSON.stringify(given.answer), isError: false }
  },
})

const openAsking = () => openGatedDoors({ tools: [order], answers: [calls(['order']), says('Done.')] })

const message = (doors: Doors) => ({ id: doors.ids.uuid(), role: 'user', content: 'Go.' })

const start = (doors: Doors) =>
  doors.run('/', { threadId: 'thread', runId: doors.ids.uuid(), messages: [message(doors)] })

const resume = (doors: Doors, entry: object) =>
  doors.post('/', { threadId: 'thread', runId: doors.ids.uuid(), messages: [], resume: [entry] })

const resultsIn = (lines: readonly string[]) => lines.filter((line) => line.startsWith('TOOL_CALL_RESULT'))

const decide = (doors: Doors, id: string, body: unknown) => doors.post(`/approvals/${id}`, body, asOperator)

async function continued(doors: Doors, decided: Response): Promise<string[]> {
  const { continuation_run_id } = ApprovalSchema.parse(await decided.json())
  return outline(eventsOf(await readSse(await doors.get(`/runs/${continuation_run_id}/events`)).rest()))
}

describe('a question of a tool', () => {
  test('is an interrupt that says what the answer must look like, and resume answers it', async () => {
    await using doors = await openAsking()
    const [interrupt] = interruptsOf(await start(doors))
    expect(interrupt).toMatchObject({
      reason: 'input_required',
      message: 'order asks a question\nWhich size?\nAnswer with these fields:\n  size (required): one of "S", "L"',
      responseSchema: schema,
      metadata: { quarterdeck: { tool: 'order' } },
    })
    const interruptId = interrupt?.id ?? ''
    const wrong = await resume(doors, { interruptId, status: 'resolved', payload: { size: 'XXL' } })
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/resume/0/payload' }],
    })
    const right = await resume(doors, { interruptId, status: 'resolved', payload: { size: 'L' } })
    expect(resultsIn(outline(eventsOf(await readSse(right).rest())))).toEqual([
      'TOOL_CALL_RESULT {"type":"answered","value":{"size":"L"}}',
    ])
  })

  test('is shown again to a client that comes back, and a cancelled resume refuses it', async () => {
    await using doors = await openAsking()
    const [interrupt] = interruptsOf(await start(doors))
    const shown = await doors.run('/', { threadId: 'thread', runId: doors.ids.uuid(), messages: [] })
    expect(interruptsOf(shown)).toEqual([interrupt])
    const answer = await resume(doors, { interruptId: interrupt?.id, status: 'cancelled' })
    expect(resultsIn(outline(eventsOf(await readSse(answer).rest())))).toEqual([
      'TOOL_CALL_RESULT {"type":"rejected","reason":null}',
    ])
  })

  test.each([
    ['ctl', true],
    ['http', false],
  ])('is answered in a resume, and the audit trail says that the answer came by %s', async (channel, isLocal) => {
    await using doors = await openAsking()
    const [interrupt] = interruptsOf(await start(doors))
    const entry = { interruptId: interrupt?.id, status: 'resolved', payload: { size: 'L' } }
    if (isLocal) {
      const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-socket-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      await doors.listenLocal(join(folder, 's'))
      const local = createSocketFetch(join(folder, 's'))
      const answer = await local('http://quarterdeck/', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...asOperator },
        body: JSON.stringify({ threadId: 'thread', runId: doors.ids.uuid(), messages: [], resume: [entry] }),
      })
      await readSse(answer).rest()
    } else await readSse(await resume(doors, entry)).rest()

    const entries = (await doors.store.audit.entries(0, 100)).map(({ text }) => JSON.parse(text))
    expect(entries.filter(({ kind }) => kind === 'decision').map(({ details }) => details.channel)).toEqual([channel])
  })

  test('is in the inbox and the list with its schema, and is answered there', async () => {
    await using doors = await openAsking()
    const [{ id = '' } = {}] = interruptsOf(await start(doors))
    const inbox = (await (await doors.get('/inbox', asOperator)).json()) as { items: { approval: unknown }[] }
    const approval = ApprovalSchema.omit({ view: true }).parse(inbox.items[0]?.approval)
    expect(approval).toMatchObject({
      approval_id: id,
      kind: 'question',
      status: 'pending',
      question: { message: 'Which size?', schema },
      response: null,
    })
    const refused = await decide(doors, id, { decision: 'respond', result: { size: 7 } })
    expect(await refused.json()).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/result' }] })
    expect(await refusalOf(await decide(doors, id, { decision: 'approve' }))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
    const decided = await decide(doors, id, { decision: 'respond', result: { size: 'S' }, digest: approval.digest })
    expect(decided.status).toBe(200)
    expect(resultsIn(await continued(doors, decided.clone()))).toEqual([
      'TOOL_CALL_RESULT {"type":"answered","value":{"size":"S"}}',
    ])
    expect(await decided.json()).toMatchObject({ status: 'answered', response: { size: 'S' } })
    const late = await decide(doors, id, { decision: 'respond', result: { size: 'L' } })
    expect(await refusalOf(late)).toEqual({ status: 409, code: 'approval_decided' })
  })

  test('expires like an approval, and the late answer is told so', async () => {
    await using doors = await openAsking()
    const [{ id = '' } = {}] = interruptsOf(await start(doors))
    doors.wait(3_600_000)
    const late = await decide(doors, id, { decision: 'respond', result: { size: 'S' } })
    expect(await refusalOf(late)).toEqual({ status: 410, code: 'approval_expired' })
    const { continuation_run_id } = ShownApprovalSchema.parse(
      await (await doors.get(`/approvals/${id}`, asOperator)).json(),
    )
    const went = outline(eventsOf(await readSse(await doors.get(`/runs/${continuation_run_id}/events`)).rest()))
    expect(resultsIn(went)).toEqual(['TOOL_CALL_RESULT {"type":"expired"}'])
  })
})

describe('an answer in the place of a tool', () => {
  const sending = { answers: [calls(['send', 'bob']), says('Done.')] }
  const said = (text: string) => `TOOL_CALL_RESULT (This tool did not run. A person answered in its place:)\n${text}`

  test('comes through REST and through resume, and the tool does not run', async () => {
    await using doors = await openGatedDoors(sending)
    const [{ id = '' } = {}] = interruptsOf(await start(doors))
    const decided = await decide(doors, id, { decision: 'respond', result: { sent: true } })
    expect(resultsIn(await continued(doors, decided))).toEqual([said('{"sent":true}')])

    await using again = await openGatedDoors(sending)
    const [interrupt] = interruptsOf(await start(again))
    const answer = await resume(again, {
      interruptId: interrupt?.id,
      status: 'resolved',
      payload: { result: 'Bob knows.' },
    })
    expect(resultsIn(outline(eventsOf(await readSse(answer).rest())))).toEqual([said('Bob knows.')])
    expect([doors.delivered, again.delivered]).toEqual([[], []])
  })

  test('a rejection that is remembered is listed as a refusal and can be revoked', async () => {
    await using doors = await openGatedDoors(sending)
    const [{ id = '' } = {}] = interruptsOf(await start(doors))
    const body = { decision: 'reject', remember: 'always', grant: { where: { to: 'b*' }, seconds: 60 } }
    await continued(doors, await decide(doors, id, body))
    const { grants } = (await (await doors.get('/grants', asOperator)).json()) as { grants: unknown[] }
    const grant = GrantSchema.parse(grants[0])
    expect(grant).toMatchObject({ effect: 'refuse', tool: 'send', where: { to: { matches: 'b*' } }, session_id: null })
    const revoked = await fetch(`${doors.url}/grants/${grant.grant_id}`, { method: 'DELETE', headers: asOperator })
    expect(revoked.status).toBe(204)
  })
})
