import { z } from 'zod'
import {
  isTimeZone,
  LONGEST_JITTER_SECONDS,
  MOST_INPUTS,
  MOST_MESSAGE_CHARS,
  SCHEDULE_NAME,
  SCHEDULE_NAME_TEXT,
} from '../../../domain/agent/schedule.ts'
import { isClientId } from '../../../domain/ids.ts'

/** A Node timer, and a person, can wait for longer, but nobody means it. */
const LONGEST_SECONDS = 366 * 86_400

const zoned = () => z.iso.datetime({ offset: true, error: 'Send a time with its zone, such as 2026-12-01T09:00:00Z.' })

/** What a schedule is. The keys of agent.yaml, with times in seconds. */
const shape = {
  name: z.string().regex(SCHEDULE_NAME, `Send ${SCHEDULE_NAME_TEXT}.`).describe('Unique among those of its agent.'),
  message: z.string().min(1).max(MOST_MESSAGE_CHARS).describe('What the agent is told.'),
  cron: z
    .string()
    .max(200)
    .exactOptional()
    .describe('Minute, hour, day of the month, month and weekday, or a word such as `@daily`.'),
  time_zone: z
    .string()
    .refine(isTimeZone, 'Send a time zone such as Europe/Berlin.')
    .exactOptional()
    .describe('Of `cron`. Left out: UTC.'),
  every_seconds: z.int().min(1).max(LONGEST_SECONDS).exactOptional().describe('In place of `cron`.'),
  at: zoned().exactOptional().describe('In place of `cron`: one single time.'),
  inputs: z
    .record(z.string().min(1).max(200), z.string().max(MOST_MESSAGE_CHARS))
    .refine((inputs) => Object.keys(inputs).length <= MOST_INPUTS, `Send at most ${MOST_INPUTS} inputs.`)
    .default({})
    .describe('What the model is shown beside the message, by name.'),
  session: z
    .string()
    .refine(isClientId, 'Send 1 to 128 printable characters.')
    .nullable()
    .default(null)
    .describe('Name of the session of all runs. Null: each run has a new one.'),
  until: zoned().nullable().default(null).describe('No run is started after this time.'),
  count: z.int().min(1).nullable().default(null).describe('How many runs in all.'),
  missed: z
    .enum(['skip', 'once'])
    .default('skip')
    .describe('What becomes of times at which no server ran: nothing, or one run for all of them.'),
  jitter_seconds: z
    .int()
    .min(0)
    .max(LONGEST_JITTER_SECONDS)
    .default(0)
    .describe('Delays each run by the same part of this time.'),
  notify: z
    .array(z.string().min(1).max(200))
    .max(10)
    .default([])
    .describe('Channels that are told how each run has ended, such as `slack:C012AB3CD` or `webhook:pager`.'),
}

export const NewScheduleSchema = z.strictObject({
  agent: z.string().max(128).describe('Name of the agent.'),
  ...shape,
})
export type NewSchedule = z.input<typeof NewScheduleSchema>

export const ChangedScheduleSchema = z.strictObject({
  paused: z.boolean().describe('While it is paused, nothing is due. What would have been is not missed.'),
})

const pastExample = {
  due: '2026-11-16T07:00:00.000Z',
  at: '2026-11-16T07:00:00.021Z',
  by: null,
  outcome: 'started',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  session_id: '4bf92f35-77b3-8da6-a3ce-929d0e0e4736',
  status: 'completed',
  why: null,
}

export const ScheduleTimeSchema = z
  .strictObject({
    due: z.iso.datetime(),
    at: z.iso.datetime().describe('When it was dealt with.'),
    by: z.string().nullable().describe('Who has started it by hand; null: it was due.'),
    outcome: z.enum(['started', 'missed', 'failed']).describe('`failed`: no run could be started.'),
    run_id: z.string().nullable(),
    session_id: z.string().nullable(),
    status: z
      .enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted'])
      .nullable()
      .describe('Of its run, or of the run that continued it; null: there is none, or it was deleted.'),
    why: z.string().nullable().describe('Why no run was started.'),
  })
  .meta({ id: 'ScheduleTime', example: pastExample })
/** What became of one time of a schedule. */
export type ScheduleTime = z.output<typeof ScheduleTimeSchema>

const { cron, time_zone, every_seconds, at, until, ...same } = shape

export const ScheduleSchema = z
  .strictObject({
    id: z.string().describe('Agent and name, with a full stop between.'),
    agent: z.string(),
    ...same,
    cron: z.string().nullable(),
    time_zone: z.string().nullable(),
    every_seconds: z.number().nullable(),
    jitter_seconds: z.number(),
    at: z.iso.datetime().nullable(),
    until: z.iso.datetime().nullable(),
    owner: z.string().describe('User whose sessions these are.'),
    in_file: z.boolean().describe('It stands in the file of its agent, so it can only be removed there.'),
    paused: z.boolean(),
    runs: z.int().describe('How many of its times have started a run.'),
    next_at: z.iso.datetime().nullable().describe('Null: it is paused, or has ended.'),
    past: z.array(ScheduleTimeSchema).describe('Newest first, at most 50. In lists, only the newest.'),
  })
  .meta({
    id: 'Schedule',
    example: {
      id: 'clerk.morning-report',
      agent: 'clerk',
      name: 'morning-report',
      message: 'Write the report of yesterday.',
      cron: '0 8 * * 1-5',
      time_zone: 'Europe/Berlin',
      every_seconds: null,
      at: null,
      inputs: { region: 'north' },
      session: null,
      until: null,
      count: null,
      missed: 'once',
      jitter_seconds: 0,
      notify: ['slack:C012AB3CD'],
      owner: 'local_user',
      in_file: true,
      paused: false,
      runs: 12,
      next_at: '2026-11-17T07:00:00.000Z',
      past: [pastExample],
    },
  })
/** A message that an agent gets by itself, and when. */
export type Schedule = z.output<typeof ScheduleSchema>
