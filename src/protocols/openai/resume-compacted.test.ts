import { expect, test } from 'vitest'
import { compactEntries } from '../../log/compact.ts'
import { openOpenAi, RESPONSES } from './testing/open-openai.ts'

test('a response that is resumed inside a compacted message ends with its text once', async () => {
  const answers = [{ parts: [{ text: 'One. ' }, { text: 'Two. ' }, { text: 'Three.' }] }]
  await using door = await openOpenAi({ answers })
  const body = { input: 'hello' }
  const all = await door.frames(RESPONSES, body)
  const first = all.find((frame) => JSON.stringify(frame).includes('One. '))

  const [session] = await door.store.sessions.list({ owner: 'local_user', limit: 1 })
  const sessionId = session?.id ?? ''
  const entries = compactEntries(await door.store.entries(sessionId, 0, 1000))
  const head = await door.store.head(sessionId)
  const { results } = await door.store.commit([{ type: 'compact_session', sessionId, head, entries }])
  expect(results).toMatchObject([{ ok: true }])

  const rest = await door.frames(RESPONSES, body, { 'Last-Event-ID': first?.id ?? '' })
  expect(JSON.stringify(rest.at(-1))).toContain('"One. Two. Three."')
})
