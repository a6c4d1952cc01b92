import { expect, onTestFinished, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { diskFull } from '../../store/sqlite/disk/storage-error.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { eventsOf, openEngine, outline } from '../testing/open-engine.ts'

/** An engine whose disk is full while `disk.isFull`. */
function openFull() {
  const clock = createManualClock()
  const store = openTestStore()
  const disk = { isFull: false }
  const commit: typeof store.commit = (commands) =>
    disk.isFull ? Promise.reject(diskFull(null)) : store.commit(commands)
  const answers = [{ parts: [{ text: 'Half' }, { text: ' of it', delay_ms: 1_000 }] }]
  const opened = openEngine({ clock, store: { ...store, commit }, answers })
  /** Moves time on in small steps until the work is done. */
  async function settle<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    while (!isDone) await clock.advance(5)
    return work
  }
  onTestFinished(async () => {
    disk.isFull = false
    await settle(opened.close())
  })
  return { ...opened, clock, disk, settle }
}

test('a reader of a run that cannot store its end hears why within 5 s, and the rest is there when there is space', async () => {
  const { clock, disk, engine, start, events, settle } = openFull()
  const accepted = await settle(start('Hi'))
  const target = { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 }
  let heard: unknown = null
  const seen: string[] = []
  const read = async () => {
    for await (const batch of engine.runs.follow(target, new AbortController().signal)) {
      seen.push(...outline(eventsOf(batch)))
    }
  }
  const reading = read().catch((error: unknown) => {
    heard = error
  })
  await clock.advance(500)
  disk.isFull = true
  // The next piece of the answer comes here, and cannot be stored.
  await clock.advance(500)
  expect(heard).toBe(null)
  await clock.advance(4_500)
  await reading

  expect(heard).toMatchObject({ code: 'storage_full' })
  expect(seen.at(-1)).toBe('TEXT_MESSAGE_CONTENT Half')
  // So does a reader that comes later.
  const late = events(accepted).catch((error: unknown) => error)
  expect(await settle(late)).toMatchObject({ code: 'storage_full' })

  disk.isFull = false
  await clock.advance(1_000)
  expect(outline(await settle(events(accepted))).at(-1)).toBe('RUN_ERROR storage_full')
})
