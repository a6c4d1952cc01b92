import { expect, test } from 'vitest'
import { createBrowserStorage } from './browser-storage.ts'

function full(kept: Record<string, string>): Storage {
  return Object.assign(Object.create(null), kept, {
    getItem: (key: string) => kept[key] ?? null,
    removeItem(key: string) {
      delete kept[key]
    },
    setItem() {
      throw new Error('There is no room.')
    },
  })
}

test('a browser that refuses keeps nothing, and the page goes on', () => {
  const storage = createBrowserStorage(() => {
    throw new Error('The browser refuses.')
  })

  expect([storage.getItem('token'), storage.keys()]).toEqual([null, []])
  storage.setItem('token', 'one')
  expect([storage.getItem('token'), storage.keys()]).toEqual(['one', ['token']])
  storage.removeItem('token')
  expect(storage.getItem('token')).toBeNull()
})

test('without room the newest is kept in the page, and the older one does not come back', () => {
  const kept = { draft: 'old' }
  const storage = createBrowserStorage(() => full(kept))

  storage.setItem('draft', 'new')

  expect([storage.getItem('draft'), kept]).toEqual(['new', {}])
})
