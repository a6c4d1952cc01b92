// Talk at any door: what tests of all doors say and read, whatever the words of the door.

import { expect } from 'vitest'
import { z } from 'zod'
import { type AnyDoor, type Ask, agUiInput, type Frame, framesOf, type StreamingDoor } from './doors.ts'
import type { House } from './open-house.ts'

/** The status of each refusal, unless the door has its own. */
const usualStatuses: Readonly<Record<string, number>> = {
  invalid_request: 400,
  malformed_id: 400,
  unauthorized: 401,
  session_not_found: 404,
  run_in_progress: 409,
  events_gone: 410,
  idempotency_mismatch: 422,
  rate_limited: 429,
  too_many_runs: 429,
}

const RefusalSchema = z.union([z.object({ error: z.object({ code: z.string() }) }), z.object({ code: z.string() })])

export const statusAt = (door: AnyDoor, code: string): number => door.statuses[code] ?? usualStatuses[code] ?? 0

export const refused = (door: AnyDoor, code: string, status = statusAt(door, code)): [number, string] => [status, code]

export async function refusal(door: AnyDoor, house: House, ask: Ask): Promise<[status: number, code: string]> {
  const response = await door.send(house, ask)
  return [response.status, codeIn(await response.json())]
}

export function codeIn(body: unknown): string {
  const found = RefusalSchema.parse(body)
  return 'error' in found ? found.error.code : found.code
}

/** The whole answer, but how long it took, and its text. */
export async function answerOf(door: AnyDoor, response: Response): Promise<{ whole: unknown; text: string }> {
  if ('endOf' in door) {
    const frames = await framesIn(response)
    return { whole: frames, text: frames.map((frame) => door.textOf(frame)).join('') }
  }
  expect(response.status).toBe(200)
  const isJson = response.headers.get('content-type') === 'application/json'
  const body: unknown = isJson ? await response.json() : await response.text()
  const timeless = JSON.stringify(body, (key, value) => (key === 'response_time_ms' ? undefined : value))
  return { whole: timeless, text: door.textOf(body) }
}

export const framesIn = async (answer: Response | Promise<Response>): Promise<Frame[]> =>
  collect(framesOf(await answer))

async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const collected: Frame[] = []
  for await (const frame of frames) collected.push(frame)
  return collected
}

/** Reads up to the first text of the answer. */
export async function untilText(door: Pick<StreamingDoor, 'textOf'>, frames: AsyncGenerator<Frame>): Promise<Frame> {
  for (let next = await frames.next(); !next.done; next = await frames.next()) {
    if (door.textOf(next.value) !== '') return next.value
  }
  throw new Error('the stream ended without a word')
}

/** The name of a new session that has a message: some doors find sessions and make none. */
export async function begun(house: House, headers: Record<string, string> = {}): Promise<string> {
  const session = crypto.randomUUID()
  await framesIn(house.post('/', agUiInput({ session, message: 'hello' }), headers))
  return session
}

/** A run that says one word, and nothing more until the model is released. */
export async function hold(house: House, session: string): Promise<{ rest(): Promise<Frame[]> }> {
  const frames = framesOf(await house.post('/', agUiInput({ session, message: 'hold' })))
  for (let next = await frames.next(); !next.value?.data.includes('"Wait"'); next = await frames.next()) {
    if (next.done) throw new Error('the model did not answer')
  }
  return { rest: () => collect(frames) }
}

/** The id of the newest event of a session. */
export async function lastIdOf(house: House, session: string): Promise<string> {
  const log = await house.get(`/sessions/${session}/log?limit=100`)
  const { events } = z.object({ events: z.array(z.looseObject({ id: z.string() })) }).parse(await log.json())
  return events.at(-1)?.id ?? ''
}

export async function userToken(house: House, user: string): Promise<Record<string, string>> {
  const { token } = await house.tokens.create({ name: '', user, role: 'user' }, 'test')
  return { Authorization: `Bearer ${token}` }
}

/** Asks, and reads the text of the answer. */
export const say = async (door: AnyDoor, house: Pick<House, 'post' | 'get'>, ask: Ask): Promise<string> =>
  (await answerOf(door, await door.send(house, ask))).text
