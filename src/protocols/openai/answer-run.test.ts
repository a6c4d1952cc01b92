import { describe, expect, test } from 'vitest'
import { type TestEngineOptions, testTool } from '../../engine/testing/open-engine.ts'
import { until } from '../../http/testing/server-fixture.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { CHAT, openOpenAi, RESPONSES } from './testing/open-openai.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const withPicture = (url: string) =>
  user([
    { type: 'text', text: 'See?' },
    { type: 'image_url', image_url: { url } },
  ])

async function open(options: TestEngineOptions = {}) {
  const door = await openOpenAi(options)
  const say = async (messages: unknown[], more: object = {}) => {
    const response = await door.post(CHAT, { messages, ...more })
    expect(response.status).toBe(200)
    return JSON.parse(await response.text())
  }
  /** How many messages each session has, the oldest session first. */
  const counts = async () => {
    const sessions = await door.store.sessions.list({ owner: 'local_user', limit: 20 })
    return sessions.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ messageCount }) => messageCount)
  }
  return Object.assign(door, { say, counts })
}

describe('a request that names no session', () => {
  test('goes on where the same was said, and begins a session where nothing was', async () => {
    await using door = await open()

    await door.say([user('One')])
    await door.say([user('One'), assistant('Hello.'), user('Two')])
    await door.say([user('One'), assistant('Hello.'), user('Two'), assistant('Hello.'), user('Three')])
    await door.say([user('One')])

    expect(await door.counts()).toEqual([6, 2])
  })

  test.each([
    ['parts', [user([{ type: 'text', text: 'One' }]), assistant([{ type: 'text', text: 'Hello.' }])]],
    ['white space', [user(' One\r\n'), assistant('Hello. ')]],
    ['instructions', [{ role: 'system', content: 'Be brief.' }, user('One'), assistant('Hello.')]],
  ])('is not told apart by %s', async (_what, history) => {
    await using door = await open()

    await door.say([user('One')])
    await door.say([...history, user('Two')])

    expect(await door.counts()).toEqual([4])
  })

  test.each([
    ['an earlier message was edited', [user('Uno'), assistant('Hello.')], {}],
    ['an answer was edited', [user('One'), assistant('Bye.')], {}],
    ['the client names another user', [user('One'), assistant('Hello.')], { user: 'eve' }],
  ])('begins another one if %s', async (_what, history, more) => {
    await using door = await open()

    await door.say([user('One')])
    await door.say([...history, user('Two')], more)

    expect(await door.counts()).toEqual([2, 4])
  })

  test('begins another one if the session has moved on, also while another request goes on there', async () => {
    await using door = await open()
    const history = [user('One'), assistant('Hello.')]
    await door.say([user('One')])

    await Promise.all(['Two', 'Three', 'Four'].map((next) => door.say([...history, user(next)])))
    await door.say([...history, user('Five')])

    expect((await door.counts()).sort()).toEqual([4, 4, 4, 4])
  })

  test('begins another one if it was continued at another door', async () => {
    await using door = await open()
    await door.say([user('One')])
    const [session] = await door.store.sessions.list({ owner: 'local_user', limit: 1 })
    await door.say([user('Elsewhere')], { metadata: { session_id: session?.id } })

    await door.say([user('One'), assistant('Hello.'), user('Two')])

    expect(await door.counts()).toEqual([4, 4])
  })

  test('is told apart by its files', async () => {
    await using door = await open({
      agent: {
        model: {
          provider: 'scripted',
          name: 's',
          contextWindow: 9_000,
          retries: 0,
          firstTokenTimeoutMs: 9_000,
          tokenTimeoutMs: 9_000,
          input: ['image'],
        },
      },
    })
    await door.say([withPicture(picture)])

    await door.say([withPicture(picture), assistant('Hello.'), user('Two')])
    await door.say([user('See?'), assistant('Hello.'), user('Two'), assistant('Hello.'), user('Three')])

    expect(await door.counts()).toEqual([4, 6])
  })

  test('is the same conversation at both routes, however many messages an answer has', async () => {
    const model = createGatedModel()
    await using door = await open({ model })
    const first = door.post(RESPONSES, { input: 'One' })
    await until(() => model.requests.length === 1)
    model.say(text('Hello.'), stop)
    expect((await first).status).toBe(200)

    const second = door.post(RESPONSES, {
      input: [
        user('One'),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hel' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'lo.' }] },
        user('Two'),
      ],
    })
    await until(() => model.requests.length === 2)
    model.say(text('Good.'), stop)
    expect((await second).status).toBe(200)
    const third = door.say([user('One'), assistant('Hello.'), user('Two'), assistant('Good.'), user('Three')])
    await until(() => model.requests.length === 3)
    model.say(text('Bye.'), stop)
    await third

    expect(await door.counts()).toEqual([6])
  })

  test('is found after an answer of many steps too', async () => {
    const look = testTool({ name: 'look', call: async () => ({ content: 'Fog.', isError: false }) })
    const step = (at: number) => ({ parts: [{ text: 'a' }, { tool_call: { name: 'look', arguments: { at } } }] })
    const answers = [
      ...Array.from({ length: 15 }, (_, at) => step(at)),
      { parts: [{ text: 'z' }] },
      { parts: [{ text: 'Bye.' }] },
    ]
    await using door = await open({ tools: [look], answers })

    const { choices } = await door.say([user('One')])
    await door.say([user('One'), choices[0].message, user('Two')])

    expect(choices[0].message.content.replace(/\s/g, '')).toBe(`${'a'.repeat(15)}z`)
    expect(await door.counts()).toEqual([34])
  })

  test('brings results to the calls that wait for them', async () => {
    const tools = [{ type: 'function', function: { name: 'pick', parameters: { type: 'object' } } }]
    const calling = { parts: [{ text: 'Let me ask.' }, { tool_call: { name: 'pick', arguments: {} } }] }
    await using door = await open({ answers: [calling, { parts: [{ text: 'Red.' }] }, { parts: [{ text: 'Fine.' }] }] })
    const { choices } = await door.say([user('Go')], { tools })
    const [{ message }] = choices
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'red' }

    await door.say([user('Go'), message, result], { tools })
    await door.say([user('Go'), message, result, assistant('Red.'), user('Thanks')])

    expect(await door.counts()).toEqual([6])
  })
})
