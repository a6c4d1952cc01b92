// A person must decide. Every door says so in its own words, none accepts anything else meanwhile, and the result of the decision is
// the same at each.

import { describe, expect, test } from 'vitest'
import { framesOf, streamingDoors, waitingDoors } from './doors.ts'
import { ok, viewsOf } from './history-views.ts'
import { type House, openHouse } from './open-house.ts'
import { waitingAnswer, waitingEnd } from './waiting-words.ts'

const operator = { user: 'ada', role: 'operator' as const }
const asking = () => openHouse(undefined, undefined, { approval: { ask: 'always' } })

async function pendingOf({ approvals }: House) {
  const found = await approvals.list({ by: operator, status: 'pending', limit: 10 })
  expect(found).toHaveLength(1)
  const [approval] = found
  if (approval === undefined) throw new Error('nobody is asked')
  return approval
}

/** The run that took the decision, once it has ended. */
async function decide(house: House, decision: 'approve' | 'reject'): Promise<void> {
  const { id } = await pendingOf(house)
  const { run } = await house.approvals.decide(operator, id, { decision })
  await (await house.get(`/runs/${run?.id}/events`)).text()
}

async function historyOf(house: House) {
  const { histories } = await viewsOf(house, 'talk')
  const all = Object.values(histories)
  for (const one of all) expect(one).toEqual(all[0])
  return all[0]
}

const approved = [
  { role: 'user', content: 'look' },
  { role: 'assistant', content: 'Let me see.' },
  { role: 'tool', content: 'a ship' },
  { role: 'assistant', content: 'I see a ship.' },
]

describe.each(streamingDoors)('$name', (door) => {
  test('ends its stream with what it waits for, and an approved call runs once', async () => {
    await using house = await asking()
    let end: string | null = null
    let last = ''
    for await (const frame of framesOf(await door.send(house, { session: await begun(house), message: 'look' }))) {
      end = door.endOf(frame) ?? end
      last = frame.data
    }

    const { id } = await pendingOf(house)
    const [expected, words] = waitingEnd(door)
    expect(end).toBe(expected)
    expect(last.replaceAll(id, 'ID')).toMatch(words)
    const refused = await door.send(house, { session: 'talk', message: 'And?' })
    const status = door.name.includes('/v1/') ? 400 : 409
    expect([refused.status, await refused.text()]).toEqual([status, expect.stringContaining('approval_pending')])

    await decide(house, 'approve')

    expect((await historyOf(house))?.slice(2)).toEqual(approved)
  })
})

describe.each(waitingDoors)('$name', (door) => {
  test('answers with what it waits for, and a refused call never runs', async () => {
    await using house = await asking()

    const response = await door.send(house, { session: await begun(house), message: 'look' })

    const { id } = await pendingOf(house)
    const [status, words] = waitingAnswer(door)
    expect(response.status).toBe(status)
    expect((await response.text()).replaceAll(id, 'ID')).toMatch(words)
    const again = await door.send(house, { session: 'talk', message: 'And?' })
    expect(again.status).toBe(door.name.includes('/v1/') ? 400 : 409)

    await decide(house, 'reject')

    const history = await historyOf(house)
    expect(history?.[4]).toMatchObject({ role: 'tool', content: expect.stringContaining('refused this call') })
    const next = await ok(await door.send(house, { session: 'talk', message: 'And?' }))
    expect(door.textOf(next)).toBe('tester: And?')
  })
})

/** A session that every door can name. */
async function begun(house: House): Promise<string> {
  const [first] = streamingDoors
  if (first === undefined) throw new Error('there are no doors')
  for await (const _frame of framesOf(await first.send(house, { session: 'talk', message: 'hello' }))) {
    // Read to the end.
  }
  return 'talk'
}
