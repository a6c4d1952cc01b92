import { describe, expect, test } from 'vitest'
import type { PersonRecord } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { SessionRecord } from '../domain/session/session.ts'
import { createShownFrom } from './shown-from.ts'

const item = {
  kind: 'wait',
  type: 'prompt',
  at: 600,
  id: 'p',
  sessionId: 's',
  status: 'pending',
  risk: null,
} as FeedItem
const bell = { name: 'bell', surface: 'local' } as const
const chat = { name: 'chat:C1', surface: 'remote', room: 'C1' } as const
const push = { name: 'push:ben', surface: 'remote', asksFrom: () => 600 } as const

function open(supervision: { mode: string; channelId?: string } | null, refs = {}, channels = [bell, chat, push]) {
  const session = (supervision === null ? {} : { supervision: { channelId: null, ...supervision } }) as SessionRecord
  return createShownFrom({
    channels,
    ownRoom: 'C1',
    find: async () => ({ messageRefs: refs }) as PersonRecord,
    session: async (id) => (id === 's' ? session : null),
  })
}

const everywhere = (shownFrom: ReturnType<typeof open>, of = item) =>
  Promise.all([bell, chat, push].map((channel) => shownFrom(channel, of)))

describe('a question is shown', () => {
  test.each([
    [{ mode: 'local' }, [0, null, null]],
    [{ mode: 'remote' }, [null, 0, 600]],
    [{ mode: 'hybrid' }, [0, 0, 600]],
    [null, [0, 0, 600]],
    [{ mode: 'remote', channelId: 'C2' }, [null, null, 600]],
  ] as const)('for %o at the bell, in the chat and on the phone from %o on', async (supervision, from) => {
    expect(await everywhere(open(supervision))).toEqual(from)
  })

  test('everywhere if it is critical, and so is what is no question', async () => {
    const shownFrom = open({ mode: 'local' })

    expect(await shownFrom(chat, { ...item, type: 'approval', risk: 'critical' } as FeedItem)).toBe(0)
    expect(await shownFrom(chat, { ...item, kind: 'session', status: 'active' } as FeedItem)).toBe(0)
  })

  test('locally if the mode is remote and no channel reaches this session', async () => {
    const shownFrom = open({ mode: 'remote', channelId: 'C2' }, {}, [bell, chat] as never)

    expect(await shownFrom(bell, item)).toBe(0)
  })

  test('where its message is already, also after mode or room have changed', async () => {
    const decided = { ...item, status: 'decided' } as FeedItem

    expect(await open({ mode: 'local' }, { 'chat:C1': 'm' })(chat, decided)).toBe(0)
    expect(await open({ mode: 'remote', channelId: 'C2' }, { 'chat:C1': 'm' })(chat, decided)).toBe(0)
  })

  test('in no room when its session is gone', async () => {
    expect(await everywhere(open(null), { ...item, sessionId: 'gone' } as FeedItem)).toEqual([0, null, 0])
  })

  test.each([
    ['has no browser yet', { isSetUp: () => false }],
    ['does not want to hear of it', { concerns: () => false }],
    ['is asked later', { asksFrom: () => 601 }],
    ['is never asked', { asksFrom: () => null }],
  ])('also at the terminal if the only person on the phone %s', async (_why, values) => {
    const phone = { name: 'push:ben', surface: 'remote', ...values } as const
    const shownFrom = open({ mode: 'remote' }, {}, [bell, phone] as never)

    expect(await shownFrom(bell, item)).toBe(0)
    expect(await open({ mode: 'remote' }, {}, [bell, push] as never)(bell, item)).toBe(null)
  })
})
