import { expect, test } from 'vitest'
import type { FeedItem, PersonWait } from '../domain/feed.ts'
import { createIsShownHere } from './shown-here.ts'

const item = { kind: 'wait', type: 'prompt', id: 'p', sessionId: 's', status: 'pending', risk: null } as FeedItem
const bell = { name: 'bell', surface: 'local' } as const
const chat = { name: 'chat', surface: 'remote' } as const

const open = (mode: 'local' | 'remote' | 'hybrid' | null, refs = {}) =>
  createIsShownHere({
    configured: new Set(['local', 'remote']),
    find: async () => ({ messageRefs: refs }) as PersonWait,
    modeOf: async () => mode,
  })

test.each([
  ['local', [true, false]],
  ['remote', [false, true]],
  ['hybrid', [true, true]],
  [null, [true, true]],
] as const)('in the mode %s, bell and chat show a question: %o', async (mode, shown) => {
  const isShown = open(mode)

  expect([await isShown(bell, item), await isShown(chat, item)]).toEqual(shown)
})

test('what is critical is shown everywhere, and so is what is no question', async () => {
  const isShown = open('local')

  expect(await isShown(chat, { ...item, type: 'approval', risk: 'critical' } as FeedItem)).toBe(true)
  expect(await isShown(chat, { ...item, kind: 'session', status: 'active' } as FeedItem)).toBe(true)
})

test('a message that is there already is updated also after the mode has changed', async () => {
  expect(await open('local', { chat: 'message 7' })(chat, { ...item, status: 'decided' } as FeedItem)).toBe(true)
})
