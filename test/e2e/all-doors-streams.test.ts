// Every stream shows the model's words as they come, and ends with the event that its family uses for the end.

import { describe, expect, test } from 'vitest'
import { type Clock, createSystemClock } from '../../src/domain/clock.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { agUiInput, type Frame, framesOf, type StreamingDoor, streamingDoors } from './doors.ts'
import { type House, openHouse } from './open-house.ts'
import { isShared } from './test-store.ts'

const SESSION = 'a session'

type Family = 'ag-ui' | 'agent' | 'threads' | 'completions' | 'responses' | 'ai'

function familyOf({ name }: StreamingDoor): Family {
  if (name.includes('/agent/{name}/chat')) return 'agent'
  if (name.includes('/chat in a thread')) return 'threads'
  if (name.includes('completions')) return 'completions'
  if (name.includes('/ai/')) return 'ai'
  return name.includes('responses') ? 'responses' : 'ag-ui'
}

const doors = streamingDoors.map((door): [string, StreamingDoor] => [door.name, door])

async function open(house: House, door: StreamingDoor, message: string) {
  await (await house.post('/', agUiInput({ session: SESSION, message: 'hello' }))).text()
  const frames = framesOf(await door.send(house, { session: SESSION, message }))
  const seen: Frame[] = []
  return {
    /** Reads until the first text of the answer. */
    async firstText(): Promise<string> {
      for (let next = await frames.next(); !next.done; next = await frames.next()) {
        seen.push(next.value)
        const text = door.textOf(next.value)
        if (text !== '') return text
      }
      throw new Error('the stream ended without a word')
    },
    /** Reads to the end. Returns the text of the whole answer, all end events, and what comes after the first of them. */
    async rest() {
      for await (const frame of frames) seen.push(frame)
      const ends = seen.map((frame) => door.endOf(frame))
      const first = ends.findIndex((end) => end !== null)
      return {
        text: seen.map((frame) => door.textOf(frame)).join(''),
        ends: ends.filter((end) => end !== null),
        behind: first < 0 ? -1 : seen.length - 1 - first,
        /** What chunks say before `[DONE]`. */
        before: seen.at(first - 1)?.data ?? '',
      }
    },
  }
}

/** Compares the end. Completions and UI messages end with `[DONE]`, and the chunk before it says how they ended. */
function expectEnd(
  door: StreamingDoor,
  found: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['rest']>>,
  text: string,
  expected: Record<Family, string>,
): void {
  const family = familyOf(door)
  const hasDone = family === 'completions' || family === 'ai'
  expect({ ends: found.ends, behind: found.behind, text: found.text }).toEqual({
    ends: [hasDone ? '[DONE]' : expected[family]],
    behind: 0,
    text,
  })
  if (hasDone) expect(found.before).toContain(expected[family])
}

/** The system clock, on which the time of all runs can be made to run out at once. */
function createClock(): Clock & { endRuns(): void } {
  const clock = createSystemClock()
  const limits = new Set<() => void>()
  return {
    ...clock,
    after(ms, fire, hold) {
      if (ms !== testAgent.limits.durationMs) return clock.after(ms, fire, hold)
      limits.add(fire)
      return () => limits.delete(fire)
    },
    endRuns() {
      for (const fire of limits) fire()
    },
  }
}

async function runOf(house: House): Promise<string> {
  const session = await house.engine.sessions.get('local_user', SESSION)
  const [run] = await house.engine.runs.open(session.id)
  return run?.id ?? 'no open run'
}

describe.each(doors)('%s', (_name, door) => {
  test('shows the first words while the model is still answering, then the rest', async () => {
    await using house = await openHouse()
    const stream = await open(house, door, 'hold')

    expect(await stream.firstText()).toBe('Wait')

    house.model.release()
    expectEnd(door, await stream.rest(), 'Wait is over.', {
      'ag-ui': 'success',
      agent: 'success',
      threads: 'success',
      completions: '"finish_reason":"stop"',
      responses: 'success',
      ai: '"finishReason":"stop"',
    })
  })

  test('ends with a failure when the model breaks off', async () => {
    await using house = await openHouse()
    const stream = await open(house, door, 'fail')

    expectEnd(door, await stream.rest(), 'Well', {
      'ag-ui': 'error model_stream_dropped',
      agent: 'error model_stream_dropped',
      threads: 'error llm',
      completions: '"code":"model_stream_dropped"',
      responses: 'error model_stream_dropped',
      ai: '"errorText"',
    })
  })

  test('ends when the run is stopped', async () => {
    await using house = await openHouse()
    const stream = await open(house, door, 'hold')
    await stream.firstText()

    expect((await house.post(`/runs/${await runOf(house)}/cancel`, {})).status).toBe(200)

    expectEnd(door, await stream.rest(), 'Wait', {
      'ag-ui': 'cancelled',
      agent: 'error cancelled',
      threads: 'error cancelled',
      completions: '"code":"cancelled"',
      responses: 'error cancelled',
      ai: '"finishReason":"interrupted"',
    })
  })

  test('ends when the run takes too long', async () => {
    const clock = createClock()
    await using house = await openHouse([{ name: 'tester' }], clock)
    const stream = await open(house, door, 'hold')
    await stream.firstText()

    clock.endRuns()

    expectEnd(door, await stream.rest(), 'Wait', {
      'ag-ui': 'error budget_exceeded',
      agent: 'error budget_exceeded',
      threads: 'error limit',
      completions: '"code":"budget_exceeded"',
      responses: 'error budget_exceeded',
      ai: '"errorText"',
    })
  })

  test('ends when its session is deleted', async () => {
    await using house = await openHouse()
    const stream = await open(house, door, 'hold')
    await stream.firstText()

    expect((await house.remove(`/threads/${encodeURIComponent(SESSION)}`)).status).toBe(204)

    expectEnd(door, await stream.rest(), 'Wait', {
      'ag-ui': 'cancelled',
      agent: 'error cancelled',
      threads: 'error cancelled',
      completions: '"code":"cancelled"',
      responses: 'error cancelled',
      ai: '"finishReason":"interrupted"',
    })
  })

  test('ends when the server stops', async () => {
    await using house = await openHouse()
    const stream = await open(house, door, 'hold')
    await stream.firstText()

    const closing = house.close()
    const found = await stream.rest()
    await closing

    // Where several servers share the store, another one goes on with the run. A reader that can resume is not told: it connects again.
    const isResumable = door.name.startsWith('POST /sessions/')
    if (isShared() && isResumable) return expect(found).toMatchObject({ ends: [], text: 'Wait' })
    // Alone, a background run is suspended and goes on after the restart. The others have ended.
    const code = isShared() || isResumable ? 'shutting_down' : 'interrupted'
    expectEnd(door, found, 'Wait', {
      'ag-ui': `error ${code}`,
      agent: `error ${code}`,
      threads: 'error shutdown',
      completions: `"code":"${code}"`,
      responses: `error ${code}`,
      ai: '"errorText"',
    })
  })
})
