import { expect, test } from 'vitest'
import { z } from 'zod'
import { sameFields } from './same-fields.ts'

interface Own {
  id: string
  lastTool?: string
  nudgeCount: number
  askedAt: number
  endedAt: number | null
}

const shape = {
  own_id: z.string(),
  last_tool: z.string().nullable(),
  nudge_count: z.number(),
  asked_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
}

test('fields have the values of their own names, times are texts, and what is left out is null', () => {
  const same = sameFields<Own, typeof shape>(shape)
  const record: Own = { id: 'one', nudgeCount: 2, askedAt: 0, endedAt: null }

  expect({ ...same(record), own_id: record.id }).toEqual({
    own_id: 'one',
    last_tool: null,
    nudge_count: 2,
    asked_at: '1970-01-01T00:00:00.000Z',
    ended_at: null,
  })
})

test('what has another name or type does not count as given', () => {
  const same = sameFields<Own, typeof shape>(shape)
  // @ts-expect-error An encoder has to say it: the record has no ownId.
  same({ id: 'one', nudgeCount: 2, askedAt: 0, endedAt: null }).own_id satisfies string
})
