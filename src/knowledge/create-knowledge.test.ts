import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { createKnowledge, type KnowledgeParts, type WorkPlace } from './create-knowledge.ts'
import type { Updated } from './knowledge-work.ts'

const settings = {
  name: 'handbook',
  sources: ['./docs'],
  directory: '/agent',
  folders: ['/'],
  ignore: [],
  embedding: null,
}
const done: Updated = { folders: [], read: 0, removed: 0, problems: 0, why: null, isPassing: false }
const noFigures = { files: 0, problems: 0, passages: 0, length: 0, embedded: 0, languages: [] }

/** Waits fire only when `later` says so. */
function createTest(update: () => Promise<Updated>, own: Partial<WorkPlace> = {}) {
  const waits = new Set<{ ms: number; fire(): void }>()
  const lines: string[] = []
  const log: Logger = {
    debug() {},
    info() {},
    warn: (message) => void lines.push(message),
    error: (message) => void lines.push(message),
    with: () => log,
  }
  const knowledge = createKnowledge([settings])
  let changed = async (): Promise<void> => {}
  const place: WorkPlace = {
    update,
    stop: async () => {},
    search: async () => ({ hits: [], hasLeftOut: false }),
    around: async () => [],
    now: async () => [],
    look: async () => ({ figures: noFigures, problems: [] }),
    clear: async () => {},
    keepOnly: async () => {},
    close: async () => {},
    ...own,
  }
  const parts: KnowledgeParts = {
    work: () => place,
    embeddingOf: () => null,
    whileHeld(work) {
      const closing = new AbortController()
      const working = work(closing.signal)
      return {
        async close() {
          closing.abort()
          await working
        },
      }
    },
    isShared: false,
    said: { write: async () => {}, read: async () => null },
    changes: { tell: async () => {}, watch: () => () => {} },
    watch(look) {
      changed = look
      return { watch: async () => {}, close() {} }
    },
    spent: async () => {},
    clock: {
      ...createSystemClock(),
      after(ms, fire) {
        const wait = { ms, fire }
        waits.add(wait)
        return () => void waits.delete(wait)
      },
    },
    log,
  }
  knowledge.open(parts)
  return { knowledge, waits, lines, changed: () => changed() }
}

const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 20))

describe('keeping indexes', () => {
  test('what fails waits once for its next try, however often files change', async () => {
    const { knowledge, waits, changed } = createTest(async () => ({ ...done, why: 'It limits.' }))
    knowledge.begin()
    await settled()
    for (let i = 0; i < 20; i += 1) await changed()
    expect(waits.size).toBe(1)
    await knowledge.close()
  })

  test('a file that can never be read is tried again less and less often', async () => {
    const { knowledge, waits } = createTest(async () => ({ ...done, isPassing: true }))
    knowledge.begin()
    await settled()
    const all: number[] = []
    for (let i = 0; i < 5; i += 1) {
      for (const wait of [...waits]) {
        all.push(wait.ms)
        waits.delete(wait)
        wait.fire()
      }
      await settled()
    }
    expect(all).toEqual([2_000, 4_000, 8_000, 16_000, 32_000])
    await knowledge.close()
  })

  test('to close in the middle of an update is no failure', async () => {
    let stop = (): void => {}
    const { knowledge, lines, waits } = createTest(
      () =>
        new Promise((_, reject) => {
          stop = () => reject(new ServerError('interrupted', 'The update was stopped.'))
        }),
      {
        async stop() {
          stop()
          await settled()
        },
      },
    )
    knowledge.begin()
    await settled()
    await knowledge.close()
    expect({ lines, waits: waits.size }).toEqual({ lines: [], waits: 0 })
  })

  test('whoever waits for the files when the server closes is told', async () => {
    const { knowledge } = createTest(async () => done, { stop: settled })
    knowledge.begin()
    await settled()
    const closing = knowledge.close()
    const updated = knowledge.all[0]?.update(new AbortController().signal)
    await Promise.allSettled([closing, updated])
  })

  test('to clear in the middle of an update is no failure, and whoever waits for the files gets them', async () => {
    let stop = (): void => {}
    let updates = 0
    const { knowledge, lines } = createTest(
      async () => {
        updates += 1
        if (updates > 2) return done
        return new Promise((_, reject) => {
          stop = () => reject(new ServerError('interrupted', 'The update was stopped.'))
        })
      },
      { clear: async () => stop() },
    )
    knowledge.begin()
    await settled()
    const [index] = knowledge.all
    const updated = index?.update(new AbortController().signal)
    await index?.clear()
    await settled()
    await index?.clear()
    await updated
    expect(lines).toEqual([])
    await knowledge.close()
  })
})
