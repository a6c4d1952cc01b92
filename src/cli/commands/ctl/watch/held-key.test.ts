import { expect, test } from 'vitest'
import { createManualClock } from '../../../../models/testing/manual-clock.ts'
import { createHeldKey } from './held-key.ts'

const key = (text: string) => ({ name: text, ctrl: false, text })

function open() {
  const clock = createManualClock()
  const taken: string[] = []
  const press = createHeldKey({
    clock,
    decides: ({ text }) => text === 'a' || text === 'r',
    onKey: ({ text }) => void taken.push(text),
  })
  return { taken, press: (text: string) => press(key(text)), wait: (ms: number) => clock.advance(ms) }
}

test('a key that is held decides once, as terminals repeat it', async () => {
  const { taken, press, wait } = open()
  press('a')
  await wait(500)
  for (let n = 0; n < 20; n += 1) {
    press('a')
    await wait(33)
  }
  await wait(5_000)
  expect(taken).toEqual(['a'])
  press('a')
  expect(taken).toEqual(['a', 'a'])
})

test('a key that is pressed again and again decides each time, a moment later', async () => {
  const { taken, press, wait } = open()
  for (let n = 0; n < 4; n += 1) {
    press('a')
    await wait(150)
  }
  expect(taken).toEqual(['a', 'a', 'a', 'a'])
})

test('other keys may be held, and a second key is no repetition', () => {
  const { taken, press } = open()
  for (const text of ['j', 'j', 'j', 'a', 'r', 'a']) press(text)
  expect(taken).toEqual(['j', 'j', 'j', 'a', 'r', 'a'])
})
