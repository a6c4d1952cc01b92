import { describe, expect, test } from 'vitest'
import { createHandedTokens, HANDED, WANTED } from './handed-tokens.ts'

const APP = 'https://app.example.com'
const SHORT = { askMs: 5, waitMs: 40 }

function open(options: { refused?: string[]; origins?: string[] } = {}) {
  const posted: unknown[] = []
  const themes: string[] = []
  const around = { postMessage: (message: unknown, origin: string) => void posted.push([message, origin]) }
  const handed = createHandedTokens({
    origins: options.origins ?? [APP],
    around,
    accept: async (token) => !options.refused?.includes(token),
    onTheme: (theme) => void themes.push(theme),
    ...SHORT,
  })
  const hand = (data: unknown, origin = APP, source: unknown = around) =>
    handed.hear({ source: source as Window, origin, data })
  /** Answers 401 to tokens that have ended, and says with which one each request came. */
  const sent: (string | null)[] = []
  const ended = new Set<string>()
  const ask = handed.wrap(async (_input, init) => {
    const token = new Headers(init?.headers).get('authorization')
    sent.push(token)
    expect(init?.credentials).toBe('omit')
    return new Response(null, { status: ended.has(token ?? '') ? 401 : 200 })
  })
  return { posted, themes, around, handed, hand, sent, ended, ask }
}

const token = (text: string, more = {}) => ({ type: HANDED, token: text, ...more })

test('a request waits for a token, which is asked for, and goes out with it', async () => {
  const { posted, hand, sent, ask, themes } = open()

  const answer = ask('/agents')
  expect(posted).toEqual([[{ type: WANTED }, APP]])
  await hand(token('one', { theme: 'dark' }))

  expect((await answer).status).toBe(200)
  await ask('/sessions')
  expect([sent, themes, posted.length]).toEqual([['Bearer one', 'Bearer one'], ['dark'], 1])
})

test('only the page around it hands tokens over, and only from an origin of the settings', async () => {
  const { hand, sent, ask } = open()

  const answer = ask('/agents')
  await hand(token('evil'), 'https://evil.example')
  await hand(token('evil'), 'null')
  await hand(token('evil'), APP, {})
  await hand({ type: 'other', token: 'evil' })
  await hand(token('two words'))
  await hand(token('good'))

  expect([(await answer).status, sent]).toEqual([200, ['Bearer good']])
})

test('asks every origin of the settings, again and again until one answers', async () => {
  const { posted, handed, hand } = open({ origins: [APP, 'http://localhost:3000'] })

  const wanted = handed.wanted()
  await expect.poll(() => posted.length).toBeGreaterThanOrEqual(6)
  await hand(token('one'), 'http://localhost:3000')
  expect(await wanted).toBe('one')
  const before = posted.length
  await new Promise((resolve) => setTimeout(resolve, 4 * SHORT.askMs))

  expect(posted.length).toBe(before)
})

describe('a token that has ended', () => {
  test('is replaced once for all requests, and they go out again', async () => {
    const { posted, hand, sent, ended, ask } = open()
    await hand(token('one'))
    ended.add('Bearer one')

    const answers = Promise.all([ask('/a'), ask('/b')])
    await expect.poll(() => posted.length).toBe(1)
    await hand(token('two'))

    expect((await answers).map(({ status }) => status)).toEqual([200, 200])
    expect(sent).toEqual(['Bearer one', 'Bearer one', 'Bearer two', 'Bearer two'])
  })

  test('leaves the refusal to the caller if nobody hands over another', async () => {
    const { hand, ended, ask } = open()
    await hand(token('one'))
    ended.add('Bearer one')

    expect((await ask('/a')).status).toBe(401)
  })

  test('is not replaced by one that the server does not take', async () => {
    const { hand, ended, ask } = open({ refused: ['two'] })
    await hand(token('one'))
    ended.add('Bearer one')

    const answer = ask('/a')
    await hand(token('two'))

    expect((await answer).status).toBe(401)
  })
})
