// What each process of a store says about itself: how many streams it serves, whose connections it has. Others read it every few seconds.

import { type Clock, sleep } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import { MOST_VALUE_CHARS, type Shared } from '../store/ports/shared.ts'

export interface ReplicaBoard {
  /** Adds something to what this process says. It is asked every two seconds. */
  say(topic: string, what: () => unknown): void
  /** What the others say about this topic, as it was a few seconds ago at most. A process that has died says nothing. */
  heard(topic: string): readonly Heard[]
  /** The same, read now. */
  listen(topic: string): Promise<readonly Heard[]>
  /** Says it now, for whoever must not wait. */
  publish(): Promise<void>
  close(): Promise<void>
}

export interface Heard {
  replica: string
  /** What it says. Another version may say it in other words. */
  said: unknown
}

interface BoardDeps {
  shared: Pick<Shared, 'list' | 'put' | 'take'>
  /** Name of this process. No other one has it. */
  owner: string
  clock: Clock
  logger: Logger
}

const KIND = 'replica'
const EVERY_MS = 2_000
const ALIVE_MS = 10_000

export function openReplicaBoard({ shared, owner, clock, logger }: BoardDeps): ReplicaBoard {
  const own = new Map<string, () => unknown>()
  const closing = new AbortController()
  let others: readonly { replica: string; said: Readonly<Record<string, unknown>> }[] = []
  let isTroubled = false

  async function publish(): Promise<void> {
    const value = saidOf(own)
    await shared.put({ kind: KIND, key: owner, value, version: null, expiresAt: clock.now() + ALIVE_MS })
  }

  async function read(): Promise<void> {
    const rows = await shared.list(KIND)
    others = rows
      .filter(({ key }) => key !== owner)
      .map(({ key, value }) => ({ replica: key, said: JSON.parse(value) }))
  }

  const about = (topic: string): Heard[] =>
    others.filter(({ said }) => Object.hasOwn(said, topic)).map(({ replica, said }) => ({ replica, said: said[topic] }))

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await publish()
        await read()
        isTroubled = false
      } catch (error) {
        if (!isTroubled)
          logger.warn('this server and the others on the store cannot tell each other how they are', { error })
        isTroubled = true
      }
      await sleep(clock, EVERY_MS, closing.signal)
    }
  }

  const running = run()
  return {
    say: (topic, what) => void own.set(topic, what),
    heard: about,
    async listen(topic) {
      await read()
      return about(topic)
    },
    publish,
    async close() {
      closing.abort()
      await running
      await shared.take(KIND, owner).catch(() => {})
    },
  }
}

/** A topic with too much to say must not silence the others, so the longest are left out. */
function saidOf(own: ReadonlyMap<string, () => unknown>): string {
  const topics = [...own].map(([topic, what]) => `${JSON.stringify(topic)}:${JSON.stringify(what()) ?? null}`)
  const fitting: string[] = []
  let left = MOST_VALUE_CHARS - '{}'.length
  for (const text of topics.toSorted((a, b) => a.length - b.length)) {
    left -= text.length + 1
    if (left < 0) break
    fitting.push(text)
  }
  return `{${fitting.join(',')}}`
}
