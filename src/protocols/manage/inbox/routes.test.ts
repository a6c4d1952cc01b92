import { describe, expect, test } from 'vitest'
import { asAda, asEve, asLocalUser, asOperator, refusalOf } from '../../testing/open-doors.ts'
import { calls, openGatedDoors, says } from '../../testing/open-gated-doors.ts'
import { type Frame, readSse } from '../../testing/sse-reader.ts'
import { type InboxItem, InboxSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openGatedDoors>>

/** Doors whose agent asks for an approval with every message. */
const openAsking = () => openGatedDoors({ answers: [calls(['send', 'bob'])] })

async function ask(doors: Doors, alias: string, headers: Record<string, string> = asLocalUser): Promise<void> {
  const response = await doors.post(`/sessions/${alias}/messages`, { message: 'Go.' }, headers)
  const { run_id } = (await response.json()) as { run_id: string }
  await readSse(await doors.get(`/runs/${run_id}/events`, headers)).rest()
}

async function inboxOf(doors: Doors, query = '') {
  const response = await doors.get(`/inbox${query}`, asOperator)
  expect(response.status).toBe(200)
  const link = response.headers.get('link')
  return { ...InboxSchema.parse(await response.json()), next: /<([^>]+)>/.exec(link ?? '')?.[1] ?? null }
}

const dataOf = ({ data }: Frame): Record<string, unknown> => JSON.parse(data)

describe('GET /inbox', () => {
  test('lists what waits in all sessions, what ends first at the top, page by page', async () => {
    await using doors = await openAsking()
    expect(await inboxOf(doors)).toEqual({
      items: [],
      total: 0,
      counts: { critical: 0, high: 0, low: 0 },
      cursor: 'f.0',
      next: null,
    })
    for (const [alias, headers] of [
      ['a', asAda],
      ['b', asLocalUser],
      ['c', asAda],
    ] as const)
      await ask(doors, alias, headers)

    const all = await inboxOf(doors)
    expect(all.items).toMatchObject(
      ['ada', 'local_user', 'ada'].map((owner) => ({
        kind: 'approval',
        owner,
        approval: { tool: 'send', status: 'pending' },
      })),
    )
    const first = await inboxOf(doors, '?limit=2')
    const second = await inboxOf(doors, (first.next ?? '').slice('/inbox'.length))
    expect([...first.items, ...second.items]).toEqual(all.items)
    expect(second.next).toBe(null)
  })

  test('with status=done it lists what was decided, newest first, page by page', async () => {
    const [asks, ends] = [calls(['send', 'bob']), says('Done.')]
    await using doors = await openGatedDoors({ answers: [asks, asks, asks, asks, ends, ends, ends] })
    for (const alias of ['a', 'b', 'c', 'd']) await ask(doors, alias)
    const { items } = await inboxOf(doors)
    const [a, b, c, d] = items.map(({ id }) => id)
    for (const id of [a, b, d]) await doors.post(`/approvals/${id}`, { decision: 'reject' }, asOperator)

    expect((await inboxOf(doors)).items.map(({ id }) => id)).toEqual([c])
    const done = await inboxOf(doors, '?status=done')
    expect(done.items.map(({ id }) => id)).toEqual([d, b, a])
    expect(done.items[0]).toMatchObject({
      kind: 'approval',
      title: 'Call send',
      status: 'rejected',
      risk: 'high',
      tool: 'send',
      host: null,
      session_title: 'Go.',
      decided_by: 'operator',
      decided_channel: 'http',
      decided_at: expect.stringMatching(/^2/),
    })
    const first = await inboxOf(doors, '?status=done&limit=2')
    const second = await inboxOf(doors, (first.next ?? '').slice('/inbox'.length))
    expect([...first.items, ...second.items]).toEqual(done.items)
    expect(second.next).toBe(null)
    expect((await inboxOf(doors, '?status=done&risk=low')).items).toEqual([])
    expect((await inboxOf(doors, '?status=done&risk=high&limit=1')).items).toHaveLength(1)
    expect((await inboxOf(doors, '?status=done&kind=prompt')).items).toEqual([])
  })

  const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
  test.each([
    'status=old',
    'limit=0',
    'limit=101',
    'before=x',
    // A place of the other order.
    `before=1.${id}`,
    `status=done&before=high.never.1.${id}`,
    `before=none.never.1.${id}`,
    `before=high.soon.1.${id}`,
    `before=high.-1.1.${id}`,
    `before=high.never.1e9.${id}`,
    `before=high.1.1.${'9'.repeat(5_000)}`,
    `before=high.never.1.${id}%00`,
    'before=__proto__.never.1.x',
    'q=',
    `q=${'x'.repeat(201)}`,
    'folder=',
    `folder=${'x'.repeat(4_097)}`,
    'agent=',
    'risk=none',
  ])('refuses %s', async (query) => {
    await using doors = await openAsking()

    expect(await refusalOf(await doors.get(`/inbox?${query}`, asOperator))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })

  test.each([
    ['q=%27%3B%20DROP%20TABLE%20waits%3B--', 0],
    ['q=%25', 0],
    ['q=.*', 0],
    ['q=%00', 0],
    ['q=%F0%9F%92%A5', 0],
    ['q=SEND', 1],
    ['q=go.', 1],
    ['agent=constructor', 0],
    ['folder=%2F', 0],
  ])('takes %s as words, never as a pattern', async (query, total) => {
    await using doors = await openAsking()
    await ask(doors, 'a')

    for (const status of ['waiting', 'done']) {
      const { items } = await inboxOf(doors, `?status=${status}&${query}`)
      expect(items).toHaveLength(status === 'done' ? 0 : total)
    }
    expect(await inboxOf(doors, `?${query}`)).toMatchObject({ total, counts: { critical: 0, high: total, low: 0 } })
  })

  test('says what the user asked for, what the tool does and what was decided before', async () => {
    const asks = { parts: [...says('I write to Bob.').parts, ...calls(['send', 'bob']).parts] }
    await using doors = await openGatedDoors({ answers: [asks] })
    await ask(doors, 'a')
    const [first] = (await inboxOf(doors)).items
    expect(first?.view.context).toEqual({
      request: 'Go.',
      said: 'I write to Bob.',
      tool: expect.stringMatching(/./),
      before: null,
      still_since: first?.created_at,
    })
    await doors.post(`/approvals/${first?.id}`, { decision: 'reject', reason: 'Too broad.' }, asOperator)
    await ask(doors, 'b')
    // The first session may ask again by now.
    const second = (await inboxOf(doors)).items.find((item) => item.session_id !== first?.session_id)
    expect(second?.view.context.before).toBe('Rejected once by operator just now: Too broad.')
    const one = (await (await doors.get(`/approvals/${second?.id}`, asOperator)).json()) as InboxItem
    expect(one.view.context).toEqual(second?.view.context)
  })

  test('is for operators alone, and so are its events', async () => {
    await using doors = await openAsking()

    for (const path of ['/inbox', '/inbox/events']) expect((await doors.get(path, asAda)).status).toBe(403)
  })
})

describe('GET /inbox/events', () => {
  test('goes on where the list ends: nothing is missed, and nothing comes twice', async () => {
    await using doors = await openAsking()
    await ask(doors, 'a', asAda)
    const { items, cursor } = await inboxOf(doors)
    const [item] = items
    await ask(doors, 'b')
    await doors.post(`/approvals/${item?.id}`, { decision: 'reject' }, asOperator)
    const stream = readSse(await doors.get(`/inbox/events?after=${cursor}`, asOperator))
    const [first, ...frames] = await stream.until('rejected')
    await stream.close()

    expect(first).toEqual({ id: cursor, data: '{"type":"cursor"}' })
    expect(frames.map(dataOf)).toMatchObject([
      { type: 'feed', kind: 'approval', owner: 'local_user', status: 'pending', risk: 'high' },
      { type: 'feed', kind: 'approval', approval_id: item?.id, status: 'rejected' },
    ])
    const again = readSse(await doors.get('/inbox/events', { ...asOperator, 'Last-Event-ID': frames[0]?.id ?? '' }))
    expect((await again.until('rejected')).slice(1)).toEqual(frames.slice(1))
    await again.close()
  })

  test.each([
    ['a cursor that was never given out', 'f.99', 410, 'events_gone'],
    ['text that is not a cursor', 'last', 400, 'malformed_id'],
  ])('%s is refused before the stream', async (_what, after, status, code) => {
    await using doors = await openAsking()

    expect(await refusalOf(await doors.get(`/inbox/events?after=${after}`, asOperator))).toEqual({ status, code })
  })
})

describe('POST /inbox/{id}/take', () => {
  test('shows other operators who looks at an item, in the list and on both streams, and decides nothing', async () => {
    await using doors = await openAsking()
    await ask(doors, 'a')
    const [item] = (await inboxOf(doors)).items
    const path = `/inbox/${item?.id}/take`
    const streams = await Promise.all(
      ['/inbox/events', '/events'].map(async (one) => readSse(await doors.get(one, asOperator))),
    )
    const taken = async () => (await inboxOf(doors)).items[0]?.taken_by
    const told = () =>
      Promise.all(
        streams.map(async (stream) => {
          for (;;) {
            const data = dataOf((await stream.next()) ?? expect.fail('the stream has ended'))
            if (data.type === 'taken') return data
          }
        }),
      )
    const bySomebody = { name: 'eve', at: expect.stringMatching(/^2/) }

    const answer = await doors.post(path, {}, asEve)
    expect([answer.status, await answer.json()]).toEqual([200, { taken_by: null }])
    expect(await taken()).toEqual(bySomebody)
    const frame = { type: 'taken', items: [{ id: item?.id, taken_by: bySomebody }] }
    expect(await told()).toEqual([frame, frame])
    expect(await (await doors.post(path, {}, asOperator)).json()).toEqual({ taken_by: bySomebody })
    expect((await doors.post(path, { note: 'mine' }, asOperator)).status).toBe(400)
    // Whoever comes later is told at once.
    const late = readSse(await doors.get('/inbox/events', asOperator))
    expect(dataOf((await late.until('taken')).at(-1) ?? expect.fail())).toEqual(frame)
    await late.close()

    expect((await doors.remove(path, asEve)).status).toBe(204)
    expect(await taken()).toBe(null)
    expect(await told()).toEqual([
      { type: 'taken', items: [] },
      { type: 'taken', items: [] },
    ])
    expect(await doors.store.waits.get(item?.id ?? '')).toMatchObject({ status: 'pending' })
    for (const stream of streams) await stream.close()
  })

  test('is for operators, and for what is in the inbox', async () => {
    await using doors = await openAsking()
    await ask(doors, 'a')
    const [item] = (await inboxOf(doors)).items

    expect((await doors.post(`/inbox/${item?.id}/take`, {}, asAda)).status).toBe(403)
    expect(await refusalOf(await doors.post('/inbox/01ARZ3NDEKTSV4RRFFQ69G5FAV/take', {}, asOperator))).toEqual({
      status: 404,
      code: 'record_not_found',
    })
    // Users hear nothing of it.
    const stream = readSse(await doors.get('/events', asAda))
    await doors.post(`/inbox/${item?.id}/take`, {}, asEve)
    await ask(doors, 'hers', asAda)
    expect((await stream.until('"status":"waiting"')).filter((frame) => frame.data.includes('taken'))).toEqual([])
    await stream.close()
  })
})
