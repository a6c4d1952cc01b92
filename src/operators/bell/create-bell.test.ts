import { expect, test } from 'vitest'
import type { PersonRecord } from '../../domain/records/record.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import { plainProgram } from '../../domain/settings/program-words.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import type { RecordLookup } from '../operator.ts'
import { samplePrompt } from '../testing/sample-waits.ts'
import { createBell } from './create-bell.ts'

const prompt = samplePrompt({ id: 'p1', promptText: 'Go on?\n\u001b[2K\u202eevil' })

const item = { kind: 'wait', type: 'prompt', n: 1, id: 'p1', status: 'pending', risk: null } as FeedItem
const delivery = (values: Partial<Delivery> = {}): Delivery => ({
  ...{ channel: 'bell', n: 1, item, count: 1, attempts: 0, nextTryAt: 0 },
  ...values,
})
const signal = new AbortController().signal

function open(found: PersonRecord | null = prompt) {
  const written: string[] = []
  const lookup: RecordLookup = { find: async () => found }
  return { written, bell: createBell({ write: (text) => void written.push(text) }, plainProgram)(lookup) }
}

test('rings once for what begins to wait, with one line in which every character is visible', async () => {
  const { bell, written } = open()

  await bell.deliver(delivery(), signal)
  await bell.deliver(delivery(), signal)

  expect(written).toEqual([
    '\u0007claude-code: May it go on? Go on? <U+001B>[2K<U+202E>evil (quarterdeck ctl show p1)\n',
  ])
})

test('is silent about what somebody has answered meanwhile, and about what is gone', async () => {
  for (const found of [{ ...prompt, status: 'decided' as const }, null]) {
    const { bell, written } = open(found)
    await bell.deliver(delivery(), signal)

    expect(written).toEqual([])
  }
})

test('is concerned with questions and escalations alone, and shows a summary', async () => {
  const { bell, written } = open()
  const concerns = (values: object) => bell.concerns({ ...item, ...values } as FeedItem)
  expect(concerns({})).toBe(true)
  expect(concerns({ type: 'alert', status: 'escalated' })).toBe(true)
  expect(concerns({ status: 'decided' })).toBe(false)
  expect(concerns({ kind: 'run', status: 'running' })).toBe(false)

  await bell.deliver(delivery({ n: 2, item: null, count: 44 }), signal)
  expect(written.join()).toContain('44')
})
