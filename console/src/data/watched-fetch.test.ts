import { expect, test } from 'vitest'
import { createWatchedFetch } from './watched-fetch.ts'

/** Says what it is told to say, and ends only when it is aborted. */
function openStream() {
  let time = 0
  let say: (text: string) => void = () => {}
  const watched = createWatchedFetch(
    async (_input, init) =>
      new Response(
        new ReadableStream({
          start(controller) {
            say = (text) => controller.enqueue(new TextEncoder().encode(text))
            init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
          },
        }),
      ),
    () => time,
  )
  return {
    ...watched,
    say: (text: string) => say(text),
    pass(ms: number) {
      time += ms
      watched.cut()
    },
  }
}

test('a stream that says something goes on, and one that is silent breaks', async () => {
  const stream = openStream()
  const response = await stream.fetch('http://localhost/events')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()

  for (const word of ['one', 'two', 'three']) {
    stream.say(word)
    expect(await reader?.read()).toEqual({ done: false, value: word })
    stream.pass(30_000)
  }
  stream.pass(30_000)

  await expect(reader?.read()).rejects.toThrow('the connection was silent')
})

test('without a network everything breaks at once, also what has not answered yet', async () => {
  const { fetch, cut } = createWatchedFetch(
    (_input, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      }),
  )
  const answer = fetch('http://localhost/events')

  cut(0)

  await expect(answer).rejects.toThrow('the connection was silent')
})

test('the caller can still break off, and the answer is passed on as it is', async () => {
  const stream = openStream()
  const caller = new AbortController()
  const response = await stream.fetch('http://localhost/events', { signal: caller.signal })

  caller.abort(new Error('the caller left'))

  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow('the caller left')
})
