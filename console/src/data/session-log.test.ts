import { afterEach, expect, test, vi } from 'vitest'
import type { Live } from './live.ts'
import { createSessionLog } from './session-log.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('earlier events that do not come are asked for again after a pause, not at once', async () => {
  vi.useFakeTimers()
  const asked: number[] = []
  const client = {
    sessions: {
      async log(_: string, { before }: { before: number }) {
        if (before > 1_000)
          return { events: [{ id: 'S.9', seq: 9, at: null, event: { type: 'CUSTOM', name: 'n' } }], first_seq: 1 }
        asked.push(before)
        throw new Error('away')
      },
    },
  }
  const live = { watch: () => () => {}, onGone: () => () => {} }
  const log = createSessionLog('S', client as never, live as unknown as Live)
  // As a page does that looks for a message.
  log.subscribe(() => {
    const { status, hasEarlier, isLoadingEarlier } = log.current()
    if (status === 'ready' && hasEarlier && !isLoadingEarlier && asked.length < 10) log.loadEarlier()
  })
  const close = log.open()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(asked).toEqual([9])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(asked).toEqual([9, 9])
  close()
})
