import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../domain/supervision/audit.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { EMPTY_CHAIN, nextEntry } from './audit-chain.ts'
import { createChainCheck } from './chain-check.ts'

/** A trail of this length in memory, whose entries a test may exchange. */
function trailOf(count: number) {
  const trail: AuditEntry[] = []
  const add = (by = 'ann') => {
    const last = trail.at(-1)
    trail.push(nextEntry(last === undefined ? EMPTY_CHAIN : { ...last, head: last.hash }, JSON.stringify({ by })))
  }
  for (let n = 0; n < count; n += 1) add()
  const read: number[] = []
  const reads = {
    async entries(after: number, limit: number) {
      read.push(after)
      return trail.filter(({ n }) => n > after).slice(0, limit)
    },
    ends: async () => trail.slice(-1),
  }
  const clock = createManualClock()
  const check = createChainCheck({ reads, clock })
  return { trail, add, read, clock, check, headOf: () => trail.at(-1)?.hash ?? '' }
}

const LONG = 60_000

describe('the check of the audit trail', () => {
  test('says that a trail is whole, and goes on from where it was', async () => {
    const { check, add, read, headOf, clock } = trailOf(600)
    const whole = (entries: number) => ({
      status: 'whole',
      checked: entries,
      entries,
      head: { seq: entries, hash: headOf() },
      brokenAt: null,
      problem: null,
      checkedAt: clock.now(),
      chains: [{ chain: 'main', entries, head: headOf(), isWhole: true }],
      lastTie: null,
    })

    expect(await check.state(LONG)).toEqual(whole(600))
    expect(read).toEqual([0, 250, 500])
    add()
    expect(await check.state(LONG)).toEqual(whole(601))
    // The last entry that was whole, and what came after it.
    expect(read.slice(3)).toEqual([599, 600])
  })

  test('of an empty trail is whole', async () => {
    expect(await trailOf(0).check.state(LONG)).toMatchObject({ status: 'whole', entries: 0, head: null })
  })

  test('names the first broken entry, and looks again after a minute', async () => {
    const { check, trail, clock } = trailOf(300)
    const [kept] = trail.splice(270, 1, { chain: 'main', n: 271, text: '{"by":"eve"}', hash: trail[270]?.hash ?? '' })
    const broken = { status: 'broken', brokenAt: 271, checked: 270, entries: 300 }

    expect(await check.state(LONG)).toMatchObject(broken)
    if (kept !== undefined) trail.splice(270, 1, kept)
    expect(await check.state(LONG)).toMatchObject(broken)
    await clock.advance(LONG)
    expect(await check.state(LONG)).toMatchObject({ status: 'whole', brokenAt: null, checked: 300 })
  })

  test('notices that checked entries were cut off', async () => {
    const { check, trail } = trailOf(10)
    await check.state(LONG)
    trail.splice(7)

    expect(await check.state(LONG)).toMatchObject({ status: 'broken', brokenAt: 10, entries: 7 })
  })

  test('answers while it still works, and works once at a time', async () => {
    const { check, clock, read } = trailOf(2_000)
    const early = check.state(0)
    const late = check.state(LONG)
    await clock.advance(0)

    expect(await early).toMatchObject({ status: 'checking', entries: 2_000 })
    expect(await late).toMatchObject({ status: 'whole', checked: 2_000 })
    expect(read).toEqual([0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000])
  })

  test('that cannot read fails, and the next question tries again', async () => {
    const clock = createManualClock()
    let fails = true
    const check = createChainCheck({
      clock,
      reads: {
        async ends() {
          if (fails) throw new Error('the disk is away')
          return []
        },
        entries: async () => [],
      },
    })
    await expect(check.state(LONG)).rejects.toThrow('away')
    fails = false
    expect(await check.state(LONG)).toMatchObject({ status: 'whole' })
  })
})
