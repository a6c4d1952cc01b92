import { expect, test } from 'vitest'
import { keepDraft, keptDraft } from './drafts.ts'

function openStore() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    keys: () => [...kept.keys()],
  }
}

test('a draft is kept until it is dropped, and what cannot be read is none', () => {
  const store = openStore()
  keepDraft('a', { text: 'half a' }, store)
  expect(keptDraft('a', store)).toMatchObject({ text: 'half a' })
  keepDraft('a', null, store)
  expect([keptDraft('a', store), store.keys()]).toEqual([{}, []])
  for (const text of ['{"text":', '[1]', '7', 'null']) {
    store.setItem('quarterdeck.draft.a', text)
    expect(keptDraft('a', store)).toEqual({})
  }
})

test('the oldest of too many make room, and nothing else does', () => {
  const store = openStore()
  store.setItem('quarterdeck.token', 'x')
  for (let n = 1; n <= 40; n += 1) store.setItem(`quarterdeck.draft.${n}`, JSON.stringify({ at: n }))
  keepDraft('new', { text: 'x' }, store)
  expect(store.keys().sort()).toEqual(
    ['token', 'draft.new', ...Array.from({ length: 29 }, (_, i) => `draft.${i + 12}`)]
      .map((name) => `quarterdeck.${name}`)
      .sort(),
  )
})
