// A schedule: what an agent is told by itself, and when. It stands in agent.yaml or was made over the API.

export interface ScheduleSettings {
  /** Unique among the schedules of its agent. */
  name: string
  times: ScheduleTimes
  /** Delays each time by the same part of this, so that many schedules of one minute do not all start at once. */
  jitterMs: number
  /** Epoch ms of the last time that counts; null: it goes on. */
  until: number | null
  /** How many times in all; null: it goes on. */
  count: number | null
  /** What becomes of times at which no server ran: nothing, or one run for all of them. */
  missed: 'skip' | 'once'
  message: string
  /** Shown to the model beside the message, by name. */
  inputs: Readonly<Record<string, string>>
  /** Name of the session of all its runs; null: each run has a new one. */
  session: string | null
  owner: string
  /** Channels that are told how each run has ended, such as `slack:C0123ABCD` or `webhook:pager`. */
  notify: readonly string[]
}

export type ScheduleTimes =
  | { type: 'cron'; cron: string; timeZone: string }
  | { type: 'every'; ms: number }
  | { type: 'at'; at: number }

export const SCHEDULE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/
export const SCHEDULE_NAME_TEXT = 'up to 63 lower-case letters, digits, - and _'
export const LONGEST_JITTER_SECONDS = 86_400
export const MOST_MESSAGE_CHARS = 20_000
export const MOST_INPUTS = 20

/** Names of agents have no full stop. */
export const scheduleId = (agent: string, name: string): string => `${agent}.${name}`

/** Whether this machine knows the time zone, such as Europe/Berlin. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}
