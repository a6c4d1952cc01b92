// The history of a session, as each door that has one shows it.

import { z } from 'zod'
import { agUiInput, framesOf } from './doors.ts'
import type { House } from './open-house.ts'

export type Line = { role: string; content: string }

const SnapshotSchema = z.object({
  type: z.literal('MESSAGES_SNAPSHOT'),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})
const TimedLineSchema = z.object({ role: z.string(), content: z.string(), timestamp: z.iso.datetime({ precision: 3 }) })
export const SessionInfoSchema = z.object({
  session_id: z.string(),
  created_at: z.string(),
  last_activity: z.string(),
  message_count: z.int(),
})
export const SessionSchema = SessionInfoSchema.extend({ messages: z.array(TimedLineSchema) })
const ThreadInfoSchema = z.object({
  thread_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  message_count: z.int(),
})
const ThreadSchema = ThreadInfoSchema.omit({ message_count: true }).extend({
  message_history: z.array(TimedLineSchema),
})

export const line = ({ role, content }: Line): Line => ({ role, content })
export const ok = async (response: Response): Promise<unknown> => {
  if (response.status !== 200) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return response.json()
}
export const inPath = encodeURIComponent

/** The messages in the snapshot of a hydration; null when it has none. */
async function snapshotIn(response: Response): Promise<Line[] | null> {
  const events: unknown[] = []
  for await (const { data } of framesOf(response)) events.push(JSON.parse(data))
  const found = events.map((event) => SnapshotSchema.safeParse(event)).find(({ success }) => success)
  return found?.data?.messages.map(line) ?? null
}

export const hydrate = async (house: House, session: string) =>
  snapshotIn(await house.post('/', agUiInput({ session })))
export const connect = async (house: House, session: string) =>
  snapshotIn(await house.post('/copilotkit/agent/tester/connect', agUiInput({ session })))

/** The history of this session at every door that shows one. */
export async function viewsOf(house: House, session: string) {
  const [{ messages, ...info }, thread, infos, list] = await Promise.all([
    house
      .get(`/sessions/${inPath(session)}?include=tools`)
      .then(ok)
      .then(SessionSchema.parse),
    house
      .get(`/threads/${inPath(session)}`)
      .then(ok)
      .then(ThreadSchema.parse),
    house.get('/sessions').then(ok).then(z.array(SessionInfoSchema).parse),
    house
      .get('/threads')
      .then(ok)
      .then(z.object({ threads: z.array(ThreadInfoSchema) }).parse),
  ])
  return {
    histories: {
      agUi: await hydrate(house, session),
      copilotKit: await connect(house, session),
      session: messages.map(line),
      thread: thread.message_history.map(line),
    },
    counts: [info, ...infos, ...list.threads].map(({ message_count }) => message_count),
    names: [info, ...infos]
      .map(({ session_id }) => session_id)
      .concat([thread, ...list.threads].map((one) => one.thread_id)),
    times: {
      session: messages.map(({ timestamp }) => timestamp),
      thread: thread.message_history.map(({ timestamp }) => timestamp),
      begun: [info, ...infos, thread, ...list.threads].map(({ created_at }) => created_at),
      last: [info, ...infos]
        .map((one) => one.last_activity)
        .concat([thread, ...list.threads].map((one) => one.updated_at)),
    },
  }
}
