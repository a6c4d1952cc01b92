// A hosted agent at every door: what it says, what the door says when somebody must decide, how it ends, and that nobody has to stay.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, agUiInput, type Frame, framesOf, streamingDoors, waitingDoors } from './doors.ts'
import { type HostedApp, openGate, openHostedApp } from './hosted-app.ts'
import { waitingAnswer, waitingEnd } from './waiting-words.ts'

const LATE = { timeout: 60_000 }

type House = ReturnType<typeof doorsOf>

/** As the clients of the doors see it: nobody has a token. */
const doorsOf = ({ url }: HostedApp) => ({
  post: (path: string, body: unknown, headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
    fetch(url + path, {
      method: 'POST',
      signal,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }),
})

async function framesIn(response: Response | Promise<Response>): Promise<Frame[]> {
  const frames: Frame[] = []
  for await (const frame of framesOf(await response)) frames.push(frame)
  return frames
}

/** A session that every door can name. */
async function begun(house: House): Promise<string> {
  const session = `talk-${crypto.randomUUID()}`
  await framesIn(house.post('/', agUiInput({ session, message: 'say hello' })))
  return session
}

const bodyOf = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

let app: HostedApp
let house: House
beforeAll(async () => {
  app = await openHostedApp({ flags: { 'limits.disconnect_grace': '0' } })
  house = doorsOf(app)
})
afterAll(() => app?.[Symbol.asyncDispose]())

/** The operator says yes to the call, and to the changes, which are on the disk then. */
async function allow(session: string, file: string): Promise<void> {
  expect((await app.answer(session, { decision: 'approve' })).status).toBe('waiting')
  expect(app.read(file)).toBe(null)
  expect((await app.answer(session, { decision: 'approve' })).status).toBe('completed')
  expect([app.read(file), (await app.texts(session)).slice(1)]).toEqual(['once\n', ['I ask.', 'I did.']])
}

const asking = (session: string) => `say I ask.\nask-run echo once >> ${session}.txt\nsay I did.`

describe.each(streamingDoors)('$name', (door) => {
  test('streams what the agent says, ends with what it waits for, and goes on after the yes', async () => {
    const session = await begun(house)
    const send = (message: string) => door.send(house, { session, message, agent: 'coder' })

    const frames = await framesIn(send(asking(session)))

    const [end, words] = waitingEnd(door)
    const ends = frames.map(door.endOf).filter((one) => one !== null)
    expect([frames.map(door.textOf).join(''), ends]).toEqual(['I ask.', [end]])
    const { approval_id } = await app.asked(session)
    expect(frames.at(-1)?.data.replaceAll(approval_id, 'ID')).toMatch(words)
    await allow(session, `${session}.txt`)
    expect((await framesIn(send('say Good day.'))).map(door.textOf).join('')).toBe('Good day.')
  })
})

describe.each(waitingDoors)('$name', (door) => {
  test('answers with what the agent waits for, and with what it says after the yes', async () => {
    const session = await begun(house)
    const send = (message: string) => door.send(house, { session, message, agent: 'coder' })

    const response = await send(asking(session))

    const [status, words] = waitingAnswer(door)
    expect(response.status).toBe(status)
    const { approval_id } = await app.asked(session)
    expect((await response.text()).replaceAll(approval_id, 'ID')).toMatch(words)
    await allow(session, `${session}.txt`)
    expect(door.textOf(await bodyOf(await send('say Good day.')))).toBe('Good day.')
  })
})

/** At AG-UI, of a completion, and of a response. */
const ends: [reason: string, agUi: object, completion: object, response: object][] = [
  [
    'max_tokens',
    { type: 'RUN_FINISHED', outcome: { type: 'success' }, metadata: {} },
    { choices: [{ message: { content: 'Well' }, finish_reason: 'length' }] },
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  ],
  [
    'refusal',
    { type: 'RUN_ERROR', code: 'model_refused' },
    { choices: [{ message: { content: 'Well' }, finish_reason: 'content_filter' }] },
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  ],
  [
    'max_turn_requests',
    { type: 'RUN_ERROR', code: 'host_limit' },
    { error: { code: 'host_limit' } },
    { error: { code: 'host_limit' } },
  ],
]

test.each(ends)('the stop reason %s is an end of its own', async (reason, agUi, completion, response) => {
  const message = `say Well\nstop ${reason}`
  const frames = await framesIn(house.post('/', agUiInput({ session: null, message })))
  expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject(agUi)

  const messages = [{ role: 'user', content: message }]
  const completed = await house.post('/v1/chat/completions', { model: 'coder', messages })
  expect(await completed.json()).toMatchObject(completion)
  const responded = await house.post('/v1/responses', { model: 'coder', input: message })
  expect(await responded.json()).toMatchObject(response)
})

test('events that are read later are those that were read live', async () => {
  const session = crypto.randomUUID()
  const lines = ['think Hm', 'plan one;two', 'usage 0.5 100', 'mode code', 'say Well', 'run echo out', 'calls 2']
  const input = agUiInput({ session, message: [...lines, 'client-run ls', `ask-run echo`].join('\n') })
  const live = await framesIn(house.post('/', input))
  const types = new Set(live.map(({ data }) => JSON.parse(data).type))
  expect([...types]).toEqual(
    expect.arrayContaining(['REASONING_MESSAGE_CONTENT', 'ACTIVITY_SNAPSHOT', 'TOOL_CALL_RESULT', 'RUN_FINISHED']),
  )
  const { run_id } = await app.rested(session)

  const replayed = await framesIn(house.get(`/runs/${run_id}/events`))

  expect(replayed).toEqual(live)
})

/** Waits for its answer at the end, or reads it as it comes. */
const readers = [...streamingDoors, ...waitingDoors].filter(({ name }) =>
  /^POST (\/|\/agent\/{name}\/chat)$/.test(name),
)

test.each(readers)('$name: the agent works on when its client has left', async (door) => {
  await using gate = await openGate()
  const session = await begun(house)
  const client = new AbortController()
  const ask: Ask = { session, agent: 'coder', message: `${gate.line}\nsay Done.`, signal: client.signal }
  const read = door.send(house, ask).then((response) => response.text())
  const gone = read.catch(() => 'gone')
  await gate.arrived
  await expect.poll(() => app.engine.stats().readers, LATE).toBe(1)

  client.abort()
  expect(await gone).toBe('gone')
  await expect.poll(() => app.engine.stats().readers, LATE).toBe(0)
  // Where a model answers, a new message stops what nobody reads.
  const next = door.send(house, { session, agent: 'coder', message: 'say Next.' }).then((response) => response.text())
  await expect.poll(() => app.engine.stats().queuedRuns, LATE).toBe(1)
  await gate.open('open')

  await next
  expect(await app.texts(session)).toEqual(['hello', 'exit 0: openDone.', 'Next.'])
})

test('another answer and an edited message branch off, and the agent is told that it is taken back', async () => {
  const session = `talk-${crypto.randomUUID()}`
  const user = (id: string, content: string) => ({ id: `${session} ${id}`, role: 'user', content })
  const say = (...messages: object[]) => framesIn(house.post('/', { ...agUiInput({ session }), messages }))
  const back = /^You said: This conversation goes back to an earlier point\. .* message:\n(.*)$/

  await say(user('1', 'First.'))
  await say(user('1', 'First.'))
  const [again, ...none] = await app.texts(session)
  expect([back.exec(again ?? '')?.[1], none]).toEqual(['First.', []])

  await say(user('1', 'First.'), user('2', 'Second.'))
  expect((await app.texts(session)).at(-1)).toBe('You said: Second.')
  await say(user('1', 'First.'), user('3', 'Better.'))
  const texts = await app.texts(session)
  expect([back.exec(texts.at(-1) ?? '')?.[1], texts.join().includes('Second.')]).toEqual(['Better.', false])
})
