import { expect, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createPostPace, type PostUrgency } from './post-pace.ts'

function open() {
  const clock = createManualClock()
  const pace = createPostPace(clock)
  const gone: string[] = []
  const post = (name: string, urgency: PostUrgency = 'delivery', room = 'C1', signal?: AbortSignal) =>
    pace(room, urgency, signal).then(
      () => void gone.push(name),
      () => void gone.push(`${name} refused`),
    )
  return { clock, gone, post }
}

test('three messages go at once, then one a second, and each room counts for itself', async () => {
  const { clock, gone, post } = open()
  for (const name of ['a', 'b', 'c', 'd', 'e']) void post(name)
  void post('elsewhere', 'delivery', 'C2')
  await clock.advance(0)
  expect(gone).toEqual(['a', 'b', 'c', 'elsewhere'])
  await clock.advance(999)
  expect(gone.length).toBe(4)
  await clock.advance(1)
  expect(gone.at(-1)).toBe('d')
  await clock.advance(1_000)
  expect(gone.at(-1)).toBe('e')
  expect(clock.pending).toBe(0)
})

test('answers go before cards, and cards before what agents report', async () => {
  const { clock, gone, post } = open()
  for (const name of ['1', '2', '3']) void post(name)
  void post('line', 'line')
  void post('card')
  void post('answer', 'answer')
  await clock.advance(5_000)
  expect(gone).toEqual(['1', '2', '3', 'answer', 'card', 'line'])
})

test('whoever leaves takes nobody’s turn, and lines do not pile up', async () => {
  const { clock, gone, post } = open()
  const leaving = new AbortController()
  for (const name of ['1', '2', '3']) void post(name)
  void post('left', 'delivery', 'C1', leaving.signal)
  for (let i = 0; i < 51; i += 1) void post(`line ${i}`, 'line')
  leaving.abort()
  await clock.advance(1_000)
  expect(gone).toEqual(['1', '2', '3', 'line 50 refused', 'left refused', 'line 0'])
  await clock.advance(60_000)
  expect(gone.length).toBe(55)
})
