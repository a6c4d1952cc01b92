import { setTimeout as delay } from 'node:timers/promises'
import { loadDoors } from '../door.ts'
import { processTree } from '../process-stat.ts'
import { createSseFrames } from '../sse-frames.ts'
import type { Target } from '../stage.ts'
import { eachToken, monotonicMicros } from '../token.ts'

const door = loadDoors['ag-ui']
/** Answers that are still being written when the server dies, and when another one has taken over. */
const MESSAGE = 'paced:5 tokens:300'
const READ_BEFORE_MS = 4_000
const GIVE_UP_MS = 60_000

/**
 * Starts runs on one server, reads them on another, and kills the first with SIGKILL. Returns how many milliseconds later each reader
 * had the next token.
 */
export async function measureTakeover(dies: Target, stays: Target, runs: number): Promise<number[]> {
  const leaving = new AbortController()
  const { promise: killed, resolve: kill } = Promise.withResolvers<number>()
  const followed = Array.from({ length: runs }, async (_, i) => {
    const body = JSON.stringify(door.body({ thread: `takeover-${i}`, run: `takeover-${i}`, message: MESSAGE }))
    // The server dies while it answers this.
    void post(dies.url, body, leaving.signal, () => {}).catch(() => {})
    await delay(500)
    const tokens = createTokenTimes()
    void post(stays.url, body, leaving.signal, tokens.take).catch(() => {})
    return (await tokens.after(await killed)) / 1000
  })
  await delay(READ_BEFORE_MS)
  const at = monotonicMicros()
  for (const pid of processTree(dies.child.pid)) process.kill(pid, 'SIGKILL')
  kill(at)
  try {
    return await Promise.race([
      Promise.all(followed),
      delay(GIVE_UP_MS).then(() => {
        throw new Error(`After ${GIVE_UP_MS / 1000} s, not all runs went on.`)
      }),
    ])
  } finally {
    leaving.abort()
  }
}

/** Waits for a token that the model has written after a moment. */
function createTokenTimes() {
  let since = Number.POSITIVE_INFINITY
  const { promise, resolve } = Promise.withResolvers<number>()
  return {
    take(data: string): void {
      for (const { type, delta = '' } of door.read(data)) {
        if (type === 'TEXT_MESSAGE_CONTENT') {
          eachToken(delta, (_, sentAt) => {
            if (sentAt > since) resolve(monotonicMicros() - since)
          })
        }
      }
    },
    /** Microseconds until the token was read. */
    after(moment: number): Promise<number> {
      since = moment
      return promise
    },
  }
}

async function post(url: string, body: string, signal: AbortSignal, take: (data: string) => void): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const answer = await fetch(url, { method: 'POST', headers, body, signal })
  if (!answer.ok || answer.body === null) throw new Error(`HTTP ${answer.status}`)
  const frames = createSseFrames(take)
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) frames(piece)
}
