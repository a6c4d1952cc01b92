// What every way to send a message promises, in whatever words it answers: a repeated request starts nothing twice, a reader that was
// cut off goes on where it was, a busy session is waited for, left alone or interrupted, and nobody gets past tokens and limits.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  answerOf,
  begun,
  codeIn,
  framesIn,
  hold,
  lastIdOf,
  refusal,
  refused,
  say,
  statusAt,
  untilText,
  userToken,
} from './door-talk.ts'
import { type AnyDoor, type Ask, agUiInput, framesOf } from './doors.ts'
import { type House, openHouse } from './open-house.ts'

/** All doors of one run of the suite share these servers. Each test has sessions of its own. */
interface Houses {
  plain: House
  tokensNeeded: House
  oneStream: House
  oneRun: House
  noGrace: House
}

async function openHouses(undo: AsyncDisposableStack): Promise<Houses> {
  const open = async (env: Record<string, string>) => undo.use(await openHouse(undefined, undefined, {}, env))
  return {
    plain: await open({}),
    tokensNeeded: await open({ QUARTERDECK_AUTH_MODE: 'token' }),
    oneStream: await open({ QUARTERDECK_LIMITS_STREAMS: '1' }),
    oneRun: await open({ QUARTERDECK_LIMITS_ACTIVE_RUNS: '1' }),
    noGrace: await open({ QUARTERDECK_LIMITS_DISCONNECT_GRACE: '0' }),
  }
}

export function describeDoors(doors: readonly AnyDoor[]): void {
  const undo = new AsyncDisposableStack()
  let houses: Houses
  beforeAll(async () => {
    houses = await openHouses(undo)
  })
  afterAll(() => undo.disposeAsync())

  describe.each(doors)('$name', (door) => {
    describeRepeating(door, () => houses)
    describeResuming(door, () => houses)
    describeBusySession(door, () => houses)
    describeTokens(door, () => houses)
    describeLimits(door, () => houses)
  })
}

function describeRepeating(door: AnyDoor, houses: () => Houses): void {
  test('starts one run for one Idempotency-Key, and refuses everything else under it', async () => {
    const { plain: house } = houses()
    const [session, other] = [await begun(house), await begun(house)]
    const ask = { session, message: 'hello', id: crypto.randomUUID(), headers: { 'Idempotency-Key': session } }
    const { runsStarted } = house.engine.stats()

    const first = await answerOf(door, await door.send(house, ask))

    expect(first.text).toBe('tester: hello')
    expect(await answerOf(door, await door.send(house, ask))).toEqual(first)
    expect(house.engine.stats().runsStarted).toBe(runsStarted + 1)
    for (const another of [{ message: 'other' }, { session: other }]) {
      expect(await refusal(door, house, { ...ask, ...another })).toEqual(refused(door, 'idempotency_mismatch'))
    }
    expect(house.engine.stats().runsStarted).toBe(runsStarted + 1)
  })

  test.each([
    ['Idempotency-Key', 'schlüssel'],
    ['Idempotency-Key', 'k'.repeat(256)],
    ['X-On-Busy', 'wait'],
  ])('refuses a header %s that cannot be used, and starts nothing (%#)', async (name, value) => {
    const { plain: house } = houses()
    const session = await begun(house)
    const { runsStarted } = house.engine.stats()

    const response = await door.send(house, { session, message: 'hello', headers: { [name]: value } })

    expect(await response.text()).toContain(name)
    expect([response.status, house.engine.stats().runsStarted]).toEqual([
      statusAt(door, 'invalid_request'),
      runsStarted,
    ])
  })
}

function describeResuming(door: AnyDoor, houses: () => Houses): void {
  // Runs that belong to no door are read with a GET of their own.
  if (door.door === null) return

  test('refuses a Last-Event-ID that is malformed, of somebody else, or gone, and starts nothing', async () => {
    const { plain: house } = houses()
    const [session, other] = [await begun(house), await begun(house)]
    const ada = await userToken(house, 'ada')
    const hers = await framesIn(house.post('/', agUiInput({ session, message: 'hello' }), ada))
    const [ulid] = (await lastIdOf(house, session)).split('.')
    const { runsStarted } = house.engine.stats()
    const resume = (id: string, more: Partial<Ask> = {}) =>
      refusal(door, house, { session, message: 'hello', headers: { 'Last-Event-ID': id }, ...more })

    expect(await resume('nonsense')).toEqual(refused(door, 'malformed_id', 400))
    expect(await resume(hers.at(-1)?.id ?? '')).toEqual(refused(door, 'session_not_found'))
    expect(await resume(`${'0'.repeat(26)}.1`)).toEqual(refused(door, 'session_not_found'))
    expect(await resume(`${ulid}.9999`)).toEqual(refused(door, 'events_gone'))
    if (door.resumesHere) {
      expect(await resume(`${ulid}.2`, { session: other })).toEqual(refused(door, 'session_not_found'))
    }
    expect(house.engine.stats().runsStarted).toBe(runsStarted)
  })

  if (!('endOf' in door)) {
    test('with a Last-Event-ID waits for the run of that event, and starts none', async () => {
      const { plain: house } = houses()
      const session = await begun(house)
      const first = await answerOf(door, await door.send(house, { session, message: 'look' }))
      const { runsStarted } = house.engine.stats()
      const headers = { 'Last-Event-ID': await lastIdOf(house, session) }

      expect(await answerOf(door, await door.send(house, { session, message: 'look', headers }))).toEqual(first)
      expect(house.engine.stats().runsStarted).toBe(runsStarted)
    })
    return
  }

  test('goes on behind any event with exactly what followed it, and answers 204 behind the last', async () => {
    const { plain: house } = houses()
    const ask = { session: await begun(house), message: 'look', id: crypto.randomUUID() }
    const frames = await framesIn(door.send(house, ask))
    const { runsStarted } = house.engine.stats()

    for (const [index, { id }] of frames.entries()) {
      if (id === undefined) continue
      const response = await door.send(house, { ...ask, headers: { 'Last-Event-ID': id } })
      if (index === frames.length - 1) expect([response.status, await response.text()]).toEqual([204, ''])
      else expect(await framesIn(response)).toEqual(frames.slice(index + 1))
    }
    expect(frames.at(-1)?.id).toBeDefined()
    expect(house.engine.stats().runsStarted).toBe(runsStarted)
  })

  test('goes on with a run that is still active, to its end', async () => {
    const { plain: house } = houses()
    const ask = { session: await begun(house), message: 'hold', id: crypto.randomUUID() }
    const reader = new AbortController()
    const cut = framesOf(await door.send(house, { ...ask, signal: reader.signal }))
    const seen = await untilText(door, cut)
    const { runsStarted } = house.engine.stats()
    reader.abort()

    const resume = () =>
      door.send(house, { ...ask, id: crypto.randomUUID(), headers: { 'Last-Event-ID': seen.id ?? '' } })
    const live = await resume()
    house.model.release()

    const frames = await framesIn(live)
    expect(frames.map((frame) => door.textOf(frame)).join('')).toBe(' is over.')
    expect(frames.flatMap((frame) => door.endOf(frame) ?? [])).toEqual([expect.stringMatching(/^(success|\[DONE\])$/)])
    expect(await framesIn(resume())).toEqual(frames)
    expect(house.engine.stats().runsStarted).toBe(runsStarted)
  })
}

function describeBusySession(door: AnyDoor, houses: () => Houses): void {
  test('waits for its turn, or leaves a busy session alone if X-On-Busy says so', async () => {
    const { plain: house } = houses()
    const session = await begun(house)
    const holder = await hold(house, session)
    const ask = { session, message: 'next' }

    const headers = { 'X-On-Busy': 'reject' }
    expect(await refusal(door, house, { ...ask, headers })).toEqual(refused(door, 'run_in_progress'))

    const sent = door.send(house, ask)
    // A stream opens at once.
    if ('endOf' in door) expect((await sent).status).toBe(200)
    await expect.poll(() => house.engine.stats().queuedRuns).toBe(1)
    house.model.release()
    expect((await holder.rest()).at(-1)?.data).toContain('"success"')
    expect((await answerOf(door, await sent)).text).toBe('tester: next')
  })

  test('stops the run of a busy session if X-On-Busy says so', async () => {
    const { plain: house } = houses()
    const session = await begun(house)
    const holder = await hold(house, session)

    const sent = door.send(house, { session, message: 'now', headers: { 'X-On-Busy': 'interrupt' } })

    expect((await holder.rest()).at(-1)?.data).toContain('"cancelled"')
    expect((await answerOf(door, await sent)).text).toBe('tester: now')
  })

  // A run in the background needs no reader.
  if (door.door === null) return

  test('stops its run when its reader has gone', async () => {
    const { noGrace: house } = houses()
    const session = await begun(house)
    const { cancelled: before = 0 } = house.engine.stats().runsFinished
    const asked = house.model.told.length
    const reader = new AbortController()
    const sent = door.send(house, { session, message: 'hold', signal: reader.signal })
    const read = sent.then((response) => response.text()).catch(() => 'gone')
    await expect.poll(() => [house.model.told.length, house.engine.stats().readers]).toEqual([asked + 1, 1])

    reader.abort()

    expect(await read).toBe('gone')
    await expect.poll(() => house.engine.stats().runsFinished.cancelled).toBe(before + 1)
  })
}

function describeTokens(door: AnyDoor, houses: () => Houses): void {
  test('needs a token where the server asks for one', async () => {
    const { tokensNeeded: house } = houses()
    const ada = await userToken(house, 'ada')
    const session = await begun(house, ada)
    const { runsStarted } = house.engine.stats()
    const ask = { session, message: 'hello' }

    expect(await refusal(door, house, ask)).toEqual(refused(door, 'unauthorized'))
    expect(house.engine.stats().runsStarted).toBe(runsStarted)
    expect(await say(door, house, { ...ask, headers: ada })).toBe('tester: hello')
  })

  test('says nothing in a session of somebody else, and shows nothing of it', async () => {
    const { tokensNeeded: house } = houses()
    const ada = await userToken(house, 'ada')
    const bob = await userToken(house, 'bob')
    const name = await begun(house, ada)
    const { id: session, messageCount } = await house.engine.sessions.get('ada', name)
    const asked = house.model.told.length

    const response = await door.send(house, { session, message: 'mine', headers: bob })

    if (response.status === 200) expect((await answerOf(door, response)).text).toBe('tester: mine')
    else expect([response.status, codeIn(await response.json())]).toEqual([404, 'session_not_found'])
    expect((await house.engine.sessions.get('ada', name)).messageCount).toBe(messageCount)
    const alone = [{ role: 'user', content: 'mine' }]
    expect(house.model.told.slice(asked)).toEqual(response.status === 200 ? [alone] : [])
  })
}

function describeLimits(door: AnyDoor, houses: () => Houses): void {
  if ('endOf' in door && door.door !== null) {
    test('starts nothing for a user who has too many streams', async () => {
      await expectNothingStarts(houses().oneStream, 'rate_limited')
    })
  }

  test('starts nothing while too many runs are active', async () => {
    await expectNothingStarts(houses().oneRun, 'too_many_runs')
  })

  async function expectNothingStarts(house: House, code: string): Promise<void> {
    const session = await begun(house)
    const holder = await hold(house, crypto.randomUUID())
    const stored = async () => ({
      runs: house.engine.stats().runsStarted,
      sessions: (await house.engine.sessions.list({ owner: 'local_user', limit: 1_000 })).length,
      messages: (await house.engine.sessions.get('local_user', session)).messageCount,
    })
    const before = await stored()

    for (const asked of [session, null]) {
      expect(await refusal(door, house, { session: asked, message: 'hello' })).toEqual(refused(door, code))
    }

    expect(await stored()).toEqual(before)
    house.model.release()
    await holder.rest()
  }
}
