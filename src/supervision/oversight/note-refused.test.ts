import { expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import { createManualClock } from '../../http/testing/server-fixture.ts'
import { createNoteRefused, MOST_AN_HOUR, type Refused } from './note-refused.ts'

const HOUR_MS = 3_600_000

function open() {
  const clock = createManualClock()
  const trail: AuditRecord[] = []
  const note = createNoteRefused({ audit: async (record) => trail.push(record), clock, logger: silentLogger })
  const eve: Refused = { by: 'eve', via: 'http', what: 'request', tried: 'POST /approvals/:id', why: 'forbidden' }
  const times = async (n: number, more: Partial<Refused> = {}) => {
    for (let i = 0; i < n; i += 1) await note({ ...eve, ...more })
  }
  const more = () =>
    trail.filter(({ details }) => details.what === 'more').map(({ by, details }) => ({ by, ...details }))
  return { clock, trail, note, times, more, eve }
}

test('each try is an entry: who, what, on what and why', async () => {
  const { trail, note, eve, clock } = open()
  await note({ ...eve, credential: 't1', session: 's', details: { record: 'a', decision: 'approve' } })
  await note(eve)

  expect(trail.map(({ by, details }) => [by, details.why])).toEqual([
    ['eve', 'forbidden'],
    ['eve', 'forbidden'],
  ])
  expect(trail[0]).toEqual({
    ...{ at: clock.now(), kind: 'refused', by: 'eve', session: 's', run: null, agent: '', tool: '', call: null },
    details: {
      ...{ channel: 'http', credential: 't1', what: 'request', tried: 'POST /approvals/:id', why: 'forbidden' },
      ...{ record: 'a', decision: 'approve' },
    },
  })
})

test('after so many in an hour the trail says that it stops, and at the end of the hour how many it left out', async () => {
  const { clock, trail, times, more } = open()
  await times(MOST_AN_HOUR + 7)
  await times(3, { by: 'mal' })

  expect(trail.length).toBe(MOST_AN_HOUR + 1 + 3)
  expect(more()).toMatchObject([{ by: 'eve', why: 'limit', limit: MOST_AN_HOUR, until: expect.any(String) }])
  clock.advance(HOUR_MS)
  expect(more()).toMatchObject([{ why: 'limit' }, { by: 'eve', channel: 'http', why: 'not_written', dropped: 7 }])

  await times(1)
  expect(trail.at(-1)?.details).toMatchObject({ tried: 'POST /approvals/:id' })
  clock.advance(HOUR_MS)
  expect(more()).toHaveLength(2)
})

test('many credentials together are bounded too', async () => {
  const { clock, trail, times, more } = open()
  for (let i = 0; i < 300; i += 1) await times(1, { credential: `t${i}` })

  expect(trail.length).toBe(100 + 100 + 1)
  clock.advance(HOUR_MS)
  expect(more().at(-1)).toMatchObject({ by: 'others', why: 'not_written', dropped: 100 })
})
