import { expect, test } from 'vitest'
import { readDraft, writeDraft } from './draft.ts'

test('keeps a draft for each session, and nothing when it is empty', () => {
  const kept = new Map<string, string>()
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    keys: () => [...kept.keys()],
  }
  const file = { file_id: 'f', name: 'a.txt', mime_type: 'text/plain', bytes: 3 }
  writeDraft('s', { text: 'half a', files: [file] }, store)
  writeDraft(null, { text: 'new', files: [] }, store)
  expect(readDraft('s', store)).toEqual({ text: 'half a', files: [file] })
  expect(readDraft(null, store).text).toBe('new')
  writeDraft('s', { text: '', files: [] }, store)
  expect(readDraft('s', store)).toEqual({ text: '', files: [] })
  expect([...kept.keys()]).toEqual(['quarterdeck.draft.new'])
  kept.set('quarterdeck.draft.new', '{"text":4,"files":[1,{"file_id":"f"}]}')
  expect(readDraft(null, store)).toEqual({ text: '', files: [] })
})
