// One conversation, many doors: what is said at one door is known at every other, under every spelling of the session's id.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parseUuid } from '../../src/domain/ids.ts'
import { begun, say } from './door-talk.ts'
import { agUiInput, allDoors, type Frame, framesOf } from './doors.ts'
import {
  connect,
  hydrate,
  inPath,
  type Line,
  line,
  ok,
  SessionInfoSchema,
  SessionSchema,
  viewsOf,
} from './history-views.ts'
import { type House, openHouse } from './open-house.ts'

const WatchedSchema = z.object({
  type: z.string(),
  delta: z.string().optional(),
  input: z.object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) }).optional(),
})

const same = <T>(length: number, value: T): T[] => Array.from({ length }, () => value)

/** What one exchange adds to the history. Every second one uses a tool. */
function linesOf(message: string): Line[] {
  const asked = { role: 'user', content: message }
  if (message !== 'look') return [asked, { role: 'assistant', content: `tester: ${message}` }]
  return [
    asked,
    { role: 'assistant', content: 'Let me see.' },
    { role: 'tool', content: 'a ship' },
    { role: 'assistant', content: 'I see a ship.' },
  ]
}

/** Begins a session at the AG-UI door under a name that the client chose. The event ids contain its id in both spellings. */
async function begin(house: House, alias: string): Promise<[alias: string, ulid: string, uuid: string]> {
  const frames: Frame[] = []
  for await (const frame of framesOf(await house.post('/', agUiInput({ session: alias, message: 'm0' }))))
    frames.push(frame)
  const ulid = frames[0]?.id?.split('.')[0] ?? ''
  const uuid = parseUuid(ulid)
  if (uuid === null) throw new Error(`no ULID in ${frames[0]?.id}`)
  return [alias, ulid, uuid]
}

describe('one conversation', () => {
  test.each([0, 1, 2])('walks through all doors and is the same at each (%i)', async (offset) => {
    await using house = await openHouse()
    const alias = "Ahab's talk #1/2"
    const spellings = await begin(house, alias)
    const history = linesOf('m0')
    let lastActivity = ''

    for (const [index, door] of allDoors.entries()) {
      const { name } = door
      const message = index % 2 === 0 ? 'look' : `m${index + 1}`
      const session = spellings[(index + offset) % 3] ?? ''
      const added = linesOf(message)
      const before = [...history]
      history.push(...added)

      const answer = added.filter(({ role }) => role === 'assistant').map(({ content }) => content)
      // AG-UI has separate messages. Doors with one text put a blank line between them.
      expect([name, (await say(door, house, { session, message })).replaceAll('\n\n', '')]).toEqual([
        name,
        answer.join(''),
      ])
      expect(house.model.told.findLast((told) => told.at(-1)?.content === message)?.map(line)).toEqual([
        ...before,
        added[0],
      ])

      const { histories, counts, names, times } = await viewsOf(house, spellings[(index + offset + 1) % 3] ?? '')
      expect({ name, ...histories }).toEqual({
        name,
        agUi: history,
        copilotKit: history,
        session: history,
        thread: history,
      })
      expect(counts).toEqual(same(3, history.length))
      expect(names).toEqual(same(4, alias))
      expect(times.session).toEqual([...times.session].sort())
      expect(times.thread).toEqual(times.session)
      expect(times.begun).toEqual(same(4, times.begun[0]))
      expect(times.last).toEqual(same(4, times.last[0]))
      expect([times.begun[0], times.session[0], times.session.at(-1), times.last[0]].toSorted()).toEqual([
        times.begun[0],
        times.session[0],
        times.session.at(-1),
        times.last[0],
      ])
      expect((times.last[0] ?? '') >= lastActivity).toBe(true)
      lastActivity = times.last[0] ?? ''
    }
  })

  test('is replayed, event by event, to whoever watches it', async () => {
    await using house = await openHouse()
    const [, ulid] = await begin(house, 'watched')
    for (const [index, door] of allDoors.entries())
      await say(door, house, { session: 'watched', message: `m${index + 1}` })
    const told: Line[] = []
    let ends = 0

    for await (const { data } of framesOf(await house.get(`/sessions/${ulid}/events`))) {
      const event = WatchedSchema.parse(JSON.parse(data))
      if (event.type === 'RUN_STARTED') told.push(...(event.input?.messages ?? []).map(line))
      if (event.type === 'TEXT_MESSAGE_START') told.push({ role: 'assistant', content: '' })
      const last = told.at(-1)
      if (event.type === 'TEXT_MESSAGE_CONTENT' && last !== undefined) last.content += event.delta ?? ''
      if (event.type === 'RUN_FINISHED') ends += 1
      if (ends > allDoors.length) break
    }

    expect(told).toEqual(Array.from({ length: allDoors.length + 1 }, (_, index) => linesOf(`m${index}`)).flat())
  })

  test.each([
    ['DELETE /sessions', 0],
    ['DELETE /sessions', 1],
    ['DELETE /sessions', 2],
    ['DELETE /threads', 0],
    ['DELETE /threads', 1],
    ['DELETE /threads', 2],
  ] as const)('is gone at every door after %s (%i)', async (remove, spelling) => {
    await using house = await openHouse()
    const spellings = await begin(house, 'to be deleted')
    const [alias, ulid, uuid] = spellings
    const other = await begin(house, 'to be kept')
    const asked = await house.post(`/sessions/${uuid}/messages`, { message: 'm1' }).then((reply) => reply.json())
    const { run_id } = z.object({ run_id: z.string() }).parse(asked)
    const path = remove.slice('DELETE '.length)

    expect((await house.remove(`${path}/${inPath(spellings[spelling])}`)).status).toBe(204)

    for (const id of [ulid, uuid]) {
      expect(await refusal(house.get(`/sessions/${id}`))).toEqual([404, 'session_not_found'])
      expect(await refusal(house.get(`/sessions/${id}/events`))).toEqual([404, 'session_not_found'])
      expect(await refusal(house.get(`/threads/${id}`))).toEqual([404, 'session_not_found'])
      expect(await refusal(house.post('/chat', { message: 'm', session_id: id }))).toEqual([404, 'session_not_found'])
      expect(await refusal(house.post('/chat', { message: 'm', thread_id: id }))).toEqual([404, 'session_not_found'])
      expect(await refusal(house.remove(`/threads/${id}`))).toEqual([404, 'session_not_found'])
      expect((await house.remove(`/sessions/${id}`)).status).toBe(204)
    }
    // A name that is no longer used is not an id.
    expect(await refusal(house.get(`/sessions/${inPath(alias)}`))).toEqual([422, 'malformed_id'])
    expect(await refusal(house.get(`/threads/${inPath(alias)}`))).toEqual([400, 'malformed_id'])
    expect(await refusal(house.get(`/sessions/${inPath(alias)}/events`))).toEqual([400, 'malformed_id'])
    expect(await refusal(house.post('/agent/tester/chat', { message: 'm', session_id: alias }))).toEqual([
      400,
      'malformed_id',
    ])
    expect(await refusal(house.get(`/runs/${run_id}`))).toEqual([404, 'run_not_found'])
    expect(await refusal(house.get(`/runs/${run_id}/events`))).toEqual([404, 'run_not_found'])
    expect(await hydrate(house, alias)).toEqual([])
    expect(await connect(house, ulid)).toBeNull()
    const kept = z.array(SessionInfoSchema).parse(await ok(await house.get('/sessions')))
    expect(kept.map(({ session_id }) => session_id)).toEqual(['to be kept'])
    expect((await viewsOf(house, other[1])).counts).toEqual(same(3, 2))
  })

  test.each([0, 1, 2])(
    'that is asked for under its old id after it was deleted knows nothing of itself (%i)',
    async (spelling) => {
      await using house = await openHouse()
      const spellings = await begin(house, 'to be deleted')
      const session = spellings[spelling] ?? ''
      await house.remove(`/sessions/${spellings[1]}`)

      // The doors that begin a session under a name that the client chose.
      for (const door of allDoors.filter(({ name }) => /^POST \/(v1|$|sessions)/.test(name))) {
        const response = await door.send(house, { session, message: door.name })
        if (door.name.startsWith('POST /sessions/') && spelling > 0) {
          // Our ids are never used for a second session. A name may be.
          expect(response.status).toBe(404)
          continue
        }
        expect([door.name, response.status]).toEqual([door.name, 200])
        await response.text()
        expect(house.model.told.at(-1)).toEqual([{ role: 'user', content: door.name }])
        expect((await house.remove(`/sessions/${inPath(session)}`)).status).toBe(204)
      }
    },
  )
})

describe('several agents', () => {
  const crew = [{ name: 'cook' }, { name: 'mate', default: true }, { name: 'pilot' }]

  test.each([
    ['the one that is marked', crew, 'mate'],
    ['the first', [{ name: 'cook' }, { name: 'pilot' }], 'cook'],
  ])('answer behind / as %s', async (_, agents, name) => {
    await using house = await openHouse(agents)

    for (const path of ['/', '/awp', '/invocations', '/copilotkit/agent/default/run']) {
      const response = await house.post(path, agUiInput({ session: path, message: 'hello' }))
      expect(await response.text()).toContain(`"delta":"${name}: "`)
    }
    expect(await ok(await house.post('/chat', { message: 'hello' }))).toMatchObject({
      message: `${name}: hello`,
      agent_name: name,
    })
    expect(await ok(await house.post('/chat', { message: 'hello', stream: false }))).toMatchObject({
      message: { content: `${name}: hello` },
    })
    const input = { messages: [{ role: 'user', content: 'hello' }] }
    expect(await ok(await house.post('/v1/chat/completions', input))).toMatchObject({ model: name })
    expect(await ok(await house.post('/v1/responses', { input: 'hello' }))).toMatchObject({ model: name })
    expect(await ok(await house.get('/health'))).toMatchObject({ agent_name: name })
    const models = await ok(await house.get('/v1/models'))
    expect(models).toMatchObject({ data: agents.map((agent) => ({ id: agent.name })) })
  })

  test('can be asked by name at every door that can name an agent', async () => {
    await using house = await openHouse(crew)

    for (const { name: agent } of crew) {
      for (const door of allDoors.filter(({ namesAgent }) => namesAgent)) {
        const ask = { session: await begun(house), message: `to ${agent}`, agent }
        expect([door.name, await say(door, house, ask)]).toEqual([door.name, `${agent}: to ${agent}`])
      }
    }
  })

  test('go on answering in the sessions that they began, at the doors that cannot name an agent', async () => {
    await using house = await openHouse(crew)

    for (const door of allDoors.filter(({ namesAgent }) => !namesAgent)) {
      const session = `pilot's, then ${door.name}`
      await (await house.post('/agents/pilot', agUiInput({ session, message: 'hello' }))).text()
      const ask = { session, message: 'still there?' }
      await door.send(house, ask).then((response) => response.text())
      const shown = SessionSchema.extend({ messages: z.array(z.object({ agent_name: z.string().nullable() })) })
      const { messages } = shown.parse(await ok(await house.get(`/sessions/${inPath(session)}`)))
      expect([door.name, ...messages.map((one) => one.agent_name)]).toEqual([door.name, null, 'pilot', null, 'pilot'])
    }
  })

  test('that do not exist are 404 in the shape of the door', async () => {
    await using house = await openHouse(crew)
    const detail = 'There is no agent "nobody". Agents: cook, mate, pilot.'
    const session = await begun(house)
    const doors = allDoors.filter(({ namesAgent }) => namesAgent)
    const runsBefore = house.engine.stats().runsStarted

    for (const door of doors) {
      const ask = { session, message: 'hello', agent: 'nobody' }
      const response = await door.send(house, ask)
      const isOpenAi = door.name.includes('/v1/')
      const shape = isOpenAi
        ? { error: { message: detail, type: 'invalid_request_error', param: null, code: 'model_not_found' } }
        : expect.objectContaining({ status: 404, code: 'agent_not_found', detail })
      expect([door.name, response.status, response.headers.get('content-type'), await response.json()]).toEqual([
        door.name,
        404,
        isOpenAi ? 'application/json' : 'application/problem+json',
        shape,
      ])
    }
    for (const path of ['/copilotkit/agent/nobody/connect', '/copilotkit/agent/nobody/stop/x']) {
      expect(await refusal(house.post(path, agUiInput({ session })))).toEqual([404, 'agent_not_found'])
    }
    expect(await refusal(house.get('/agents/nobody/capabilities'))).toEqual([404, 'agent_not_found'])
    expect((await house.get('/v1/models/nobody')).status).toBe(404)
    expect(house.engine.stats().runsStarted).toBe(runsBefore)
  })
})

async function refusal(answered: Promise<Response>): Promise<[status: number, code: string]> {
  const response = await answered
  return [response.status, z.object({ code: z.string() }).parse(await response.json()).code]
}
