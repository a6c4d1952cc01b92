import { describe, expect, test } from 'vitest'
import { outline } from '../../../engine/testing/open-engine.ts'
import { asOperator, eventsOf, refusalOf } from '../../testing/open-doors.ts'
import { calls, interruptsOf, openGatedDoors, says } from '../../testing/open-gated-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openGatedDoors>>

const open = () => openGatedDoors({ answers: [calls(['send', 'bob']), says('Done.')] })

async function send(doors: Doors): Promise<string> {
  const { run_id } = (await (await doors.post('/sessions/thread/messages', { message: 'Go.' })).json()) as {
    run_id: string
  }
  return run_id
}

const eventsOfRun = async (doors: Doors, runId: string) => readSse(await doors.get(`/runs/${runId}/events`)).rest()
const runOf = async (doors: Doors, runId: string) => (await doors.get(`/runs/${runId}`)).json()

async function approve(doors: Doors, id: string): Promise<string> {
  const response = await doors.post(`/approvals/${id}`, { decision: 'approve' }, asOperator)
  const { continuation_run_id } = (await response.json()) as { continuation_run_id: string }
  return continuation_run_id
}

describe('a background run that has to wait for a person', () => {
  test('has events that end with what it waits for, and says that it waits', async () => {
    await using doors = await open()
    const runId = await send(doors)

    const frames = await eventsOfRun(doors, runId)

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED interrupt')
    expect(await runOf(doors, runId)).toMatchObject({
      run_id: runId,
      status: 'waiting',
      started_at: expect.any(String),
      finished_at: null,
      error: null,
      answer: null,
    })
    const after = await doors.get(`/runs/${runId}/events?after=${frames.at(-1)?.id}`)
    expect(after.status).toBe(204)
  })

  test('is completed by an answer; its continuation names it and runs by itself', async () => {
    await using doors = await open()
    const runId = await send(doors)
    const [{ id } = { id: '' }] = interruptsOf(await eventsOfRun(doors, runId))

    const next = await approve(doors, id)

    expect(outline(eventsOf(await eventsOfRun(doors, next))).at(-1)).toBe('RUN_FINISHED success')
    expect(await runOf(doors, runId)).toMatchObject({
      status: 'completed',
      finished_at: expect.any(String),
      answer: 'Done.',
    })
    expect(await runOf(doors, next)).toMatchObject({ status: 'completed', parent_run_id: runId })
    expect(doors.delivered).toEqual([['send', 'bob']])
  })

  test('is followed by its continuation on the stream of the session', async () => {
    await using doors = await open()
    await eventsOfRun(doors, await send(doors))
    const reader = readSse(await doors.get('/sessions/thread/events'))
    const first = await reader.until('RUN_FINISHED')

    await approve(doors, interruptsOf(first)[0]?.id ?? '')
    const second = await reader.until('RUN_FINISHED')
    await reader.close()

    expect(outline(eventsOf(second))[0]).toBe('RUN_STARTED')
    expect(outline(eventsOf(second)).at(-1)).toBe('RUN_FINISHED success')
  })

  test('keeps a new message out', async () => {
    await using doors = await open()
    await eventsOfRun(doors, await send(doors))

    const response = await doors.post('/sessions/thread/messages', { message: 'More.' })

    expect(await refusalOf(response)).toEqual({ status: 409, code: 'approval_pending' })
  })

  test('can be stopped; what it asked for is interrupted and its events still end', async () => {
    await using doors = await open()
    const runId = await send(doors)
    const frames = await eventsOfRun(doors, runId)
    const id = interruptsOf(frames)[0]?.id ?? ''

    expect(await (await doors.post(`/runs/${runId}/cancel`, undefined)).json()).toMatchObject({ status: 'cancelled' })

    expect(await (await doors.get(`/approvals/${id}`)).json()).toMatchObject({ status: 'interrupted' })
    expect(await eventsOfRun(doors, runId)).toEqual(frames)
    const after = await doors.get(`/runs/${runId}/events?after=${frames.at(-1)?.id}`)
    expect(after.status).toBe(204)
    expect(doors.delivered).toEqual([])
    await eventsOfRun(doors, await send(doors))
  })

  test('goes with its session when that is deleted', async () => {
    await using doors = await open()
    const id = interruptsOf(await eventsOfRun(doors, await send(doors)))[0]?.id ?? ''

    expect((await doors.remove('/sessions/thread')).status).toBe(204)

    const late = await doors.post(`/approvals/${id}`, { decision: 'approve' }, asOperator)
    expect(late.status).toBeGreaterThanOrEqual(404)
    expect(late.status).toBeLessThan(500)
    expect(doors.delivered).toEqual([])
  })
})
