import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createNotes } from '../../log/notes.ts'
import { createSessionLog } from '../../log/session-log.ts'
import { createLocalWake } from '../../log/wake.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { createMemories, MOST_MEMORIES, MOST_MEMORY_CHARS } from './memories.ts'

function open() {
  let time = 1_000
  const clock = { ...createSystemClock(), now: () => time++ }
  const store = openTestStore()
  const log = createSessionLog({ store, clock, wake: createLocalWake({ clock, pollMs: null }) })
  const notes = createNotes({ log, outbox: store.outbox, clock })
  const memories = createMemories({ notes, clock })
  const keep = (id: string, text: string, owner = 'ada', agent = 'helper') =>
    memories.remember(owner, { id, agent, text, session: 's', run: 'r' })
  const texts = async (owner = 'ada') => (await memories.of(owner)).map(({ id, text }) => `${id} ${text}`)
  return { memories, notes, keep, texts }
}

test('keeps a fact once, also if the call that brought it is made again', async () => {
  const { memories, keep, texts } = open()

  expect(await keep('1', '  Likes\n tea. ')).toBe(true)
  expect(await keep('1', 'Likes tea.')).toBe(false)
  expect(await keep('2', 'Likes tea.')).toBe(false)
  expect(await keep('3', 'Likes tea.', 'ada', 'other')).toBe(true)
  // A person has changed it before the call is made again.
  await memories.correct('ada', { id: '1' }, 'Likes green tea.')
  expect(await keep('1', 'Likes tea.')).toBe(false)
  expect(await texts()).toEqual(['1 Likes green tea.', '3 Likes tea.'])
})

test('loses none of many facts at once, and mixes up no users', async () => {
  const { keep, texts, memories } = open()
  const owners = ['ada', 'corp:ada@example.com', '__proto__', '["ada"]']

  await Promise.all(owners.flatMap((owner) => Array.from({ length: 20 }, (_, i) => keep(`${i}`, `Fact ${i}`, owner))))
  for (const owner of owners) expect((await texts(owner)).length).toBe(20)
  expect(await memories.forget('ada', {})).toBe(20)
  expect((await memories.all()).map(({ owner }) => owner).sort()).toEqual(owners.slice(1).sort())
})

test('refuses what does not fit and drops nothing for it', async () => {
  const { keep, texts, memories } = open()

  await expect(keep('x', ' \n ')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(keep('x', 'a'.repeat(MOST_MEMORY_CHARS + 1))).rejects.toMatchObject({ code: 'invalid_request' })
  for (let i = 0; i < MOST_MEMORIES; i += 1) await keep(`${i}`, `Fact ${i}`)
  await expect(keep('x', 'One more')).rejects.toMatchObject({ code: 'limit', message: /Forget one/ })
  expect((await texts()).length).toBe(MOST_MEMORIES)
  expect(await keep('x', 'One more', 'ada', 'other')).toBe(true)
  expect(await memories.forget('ada', { agent: 'helper', id: '7' })).toBe(1)
  expect(await keep('y', 'One more')).toBe(true)
})

test('keeps no hidden character', async () => {
  const { keep, texts } = open()

  await keep('1', 'Pay\u202E evil\u200B\u{E0041} \uD800 \u2028line')
  expect(await texts()).toEqual(['1 Pay<U+202E> evil<U+200B><U+E0041> \uFFFD line'])
})

test('corrects and erases one fact, or all of an agent', async () => {
  const { memories, keep, texts, notes } = open()
  await keep('1', 'Likes tea.')
  await keep('2', 'Lives in Rome.')
  await keep('3', 'Likes tea.', 'ada', 'other')

  await expect(memories.correct('ada', { id: '1' }, 'Lives in Rome.')).rejects.toMatchObject({ code: 'conflict' })
  expect(await memories.correct('ada', { id: '1' }, 'Likes milk.')).toMatchObject({
    text: 'Likes milk.',
    at: expect.any(Number),
    correctedAt: expect.any(Number),
  })
  expect(await memories.correct('ada', { id: '1', agent: 'other' }, 'No')).toBeNull()
  expect(await memories.correct('bob', { id: '1' }, 'No')).toBeNull()
  expect(await memories.forget('ada', { agent: 'helper' })).toBe(2)
  expect(await texts()).toEqual(['3 Likes tea.'])
  expect(await memories.forget('ada', { id: '3' })).toBe(1)
  expect(await memories.forget('ada', { id: '3' })).toBe(0)
  expect(await notes.list('kept memories')).toEqual([])
})
