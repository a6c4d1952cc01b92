import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { ulidOf } from '../../domain/ids.ts'
import { openEngine, scripted } from '../../engine/testing/open-engine.ts'
import { createOversight, type Viewer } from './oversight.ts'

const HOUR_MS = 3_600_000

async function openOversight() {
  const opened = openEngine({ model: scripted([{ parts: [{ text: 'Hello.' }] }]) })
  onTestFinished(opened.close)
  const { engine, store, log } = opened
  let now = 10 * HOUR_MS
  const oversight = createOversight({ engine, store, log, clock: { now: () => now } })
  const taken = await opened.start('Hi', { owner: 'ada' })
  await opened.events(taken)
  /** What the trail says about operators. */
  const trail = async () =>
    (await store.audit.entries(0, 100))
      .map(({ text }) => JSON.parse(text))
      .filter(({ kind }) => kind.startsWith('operator_'))
      .map(({ kind, by, session, run, details }) => ({ kind, by, session, run, details }))
  const later = (ms: number) => {
    now += ms
  }
  return { ...opened, oversight, ...taken, trail, later }
}

const operator = (user: string): Viewer => ({ by: { user, role: 'operator' }, owner: 'local_user' })
const ada: Viewer = { by: { user: 'ada', role: 'user' }, owner: 'ada' }
const bob: Viewer = { by: { user: 'bob', role: 'user' }, owner: 'bob' }

describe('an operator', () => {
  test('reads the sessions and runs of others, and is put on record once an hour for each session', async () => {
    const { oversight, session, run, trail, later } = await openOversight()
    const eve = operator('eve')
    const read = { kind: 'operator_read', by: 'eve', session: session.id, run: null, details: { owner: 'ada' } }

    const found = await Promise.all([oversight.session(eve, session.id), oversight.session(eve, ulidOf(session.id))])
    expect(found.map((one) => one.id)).toEqual([session.id, session.id])
    expect((await oversight.run(eve, run.id)).id).toBe(run.id)
    expect(await trail()).toEqual([read])
    later(HOUR_MS)
    await oversight.session(eve, session.id)
    await oversight.session(operator('mallory'), session.id)
    expect(await trail()).toEqual([read, read, { ...read, by: 'mallory' }])
  })

  test('is not put on record for reading their own', async () => {
    const { oversight, session, run, trail } = await openOversight()
    const viewer: Viewer = { ...ada, by: { user: 'ada', role: 'operator' } }

    expect((await oversight.session(viewer, 'thread')).id).toBe(session.id)
    expect((await oversight.run(viewer, run.id)).id).toBe(run.id)
    expect(await trail()).toEqual([])
  })

  test('is answered only when the record is on disk, and a record that failed is written by the next read', async () => {
    const { engine, store, log, session, trail } = await openOversight()
    let isBroken = true
    const commit: typeof log.commit = (command) =>
      isBroken ? Promise.reject(new ServerError('storage_full', 'The disk is full.')) : log.commit(command)
    const clock = { now: () => 0 }
    const oversight = createOversight({ engine, store, log: { ...log, commit }, clock })

    await expect(oversight.session(operator('eve'), session.id)).rejects.toMatchObject({ code: 'storage_full' })
    isBroken = false
    await oversight.session(operator('eve'), session.id)
    expect((await trail()).length).toBe(1)
  })

  test('finds no session by an alias of its owner, and none that was deleted', async () => {
    const { oversight, engine, session } = await openOversight()

    await expect(oversight.session(operator('eve'), 'thread')).rejects.toMatchObject({ code: 'malformed_id' })
    await engine.sessions.remove(session)
    await expect(oversight.session(operator('eve'), session.id)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  test('cancels a run of somebody else under their own name, and is put on record', async () => {
    const { engine, store, log, clock, start, session, trail } = await openOversight()
    const cancelledBy: string[] = []
    const runs: typeof engine.runs = {
      ...engine.runs,
      cancel(run, by) {
        cancelledBy.push(by)
        return engine.runs.cancel(run, by)
      },
    }
    const oversight = createOversight({ engine: { ...engine, runs }, store, log, clock })
    const { run } = await start('Hi', { owner: 'ada', session: { existing: session } })
    await oversight.cancel(operator('eve'), run)
    await oversight.cancel(operator('eve'), run)

    expect(cancelledBy).toEqual(['eve', 'eve'])
    expect(await trail()).toEqual([
      { kind: 'operator_cancel', by: 'eve', session: session.id, run: run.id, details: { owner: 'ada' } },
    ])
  })

  test('leaves a finished run as it is, without a record of a cancel', async () => {
    const { oversight, run, trail } = await openOversight()
    const seen = await oversight.run(operator('eve'), run.id)

    expect((await oversight.cancel(operator('eve'), seen)).status).toBe('completed')
    expect((await trail()).map(({ kind }) => kind)).toEqual(['operator_read'])
  })

  test('lists the sessions of others on record', async () => {
    const { oversight, trail } = await openOversight()
    await oversight.listing(operator('eve'), '*')
    await oversight.listing(operator('eve'), '*')
    await oversight.listing(operator('eve'), 'ada')

    expect((await trail()).map(({ details }) => details)).toEqual([{ owner: '*' }, { owner: 'ada' }])
  })
})

test('a user sees only what is theirs', async () => {
  const { oversight, session, run, trail } = await openOversight()

  expect((await oversight.session(ada, session.id)).id).toBe(session.id)
  await expect(oversight.session(bob, session.id)).rejects.toMatchObject({ code: 'session_not_found' })
  await expect(oversight.run(bob, run.id)).rejects.toMatchObject({ code: 'run_not_found' })
  await expect(oversight.listing(bob, 'ada')).rejects.toMatchObject({ code: 'forbidden' })
  expect(await trail()).toEqual([])
})
