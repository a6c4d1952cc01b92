// The schema of `schedules` in agent.yaml. Whether a cron expression can be read is known where its library is loaded: `times.ts`.

import { z } from 'zod'
import {
  isTimeZone,
  LONGEST_JITTER_SECONDS,
  MOST_INPUTS,
  MOST_MESSAGE_CHARS,
  SCHEDULE_NAME,
  SCHEDULE_NAME_TEXT,
  type ScheduleSettings,
} from '../../domain/agent/schedule.ts'
import { isClientId } from '../../domain/ids.ts'
import { LOCAL_USER } from '../../domain/session/session.ts'
import { USER_NAME, USER_NAME_TEXT } from '../../domain/supervision/user-name.ts'
import { count, duration, key, reporter, text, twinsIn } from '../source/schema-key.ts'

const time = (description: string, example: string) =>
  key(
    z.iso.datetime({ offset: true }).optional(),
    description,
    example,
    'a time in ISO 8601 with its zone, such as "2026-12-01T09:00:00Z"',
  )

const schedule = z
  .strictObject({
    name: key(
      z.string().regex(SCHEDULE_NAME),
      'Names it in lists, in the console and in the log.',
      'morning-report',
      SCHEDULE_NAME_TEXT,
    ),
    message: key(
      text().max(MOST_MESSAGE_CHARS),
      'What the agent is told, as if its owner had said it.',
      'Write the report of yesterday.',
    ),
    cron: key(
      text().optional(),
      'When: minute, hour, day of the month, month and weekday, or a word such as `@daily`.',
      '0 8 * * 1-5',
    ),
    time_zone: key(
      z.string().refine(isTimeZone, { error: '' }).optional(),
      'Time zone of `cron`, which follows its summer time. Default: UTC.',
      'Europe/Berlin',
      'a time zone such as Europe/Berlin or UTC',
    ),
    every: duration('In place of `cron`: how much time lies between two runs.', '1h').optional(),
    at: time('In place of `cron`: one single time.', '2026-12-01T09:00:00Z'),
    inputs: key(
      z
        .record(z.string().min(1).max(200), z.string().max(MOST_MESSAGE_CHARS))
        .refine((inputs) => Object.keys(inputs).length <= MOST_INPUTS, { error: '' })
        .default({}),
      'What the model is shown beside the message, by name.',
      { region: 'north' },
      `at most ${MOST_INPUTS} names, each with a text`,
    ),
    session: key(
      z.string().refine(isClientId, { error: '' }).optional(),
      'Name of the session of all runs. Default: each run has a new one.',
      'morning-report',
      'a name of up to 128 printable characters',
    ),
    owner: key(
      z.string().regex(USER_NAME).default(LOCAL_USER),
      'User whose sessions these are.',
      'ada',
      USER_NAME_TEXT,
    ),
    until: time('No run is started after this time.', '2027-01-01T00:00:00Z'),
    count: key(count().optional(), 'How many runs in all. Default: no limit.', 10),
    missed: key(
      z.enum(['skip', 'once']).default('skip'),
      'What becomes of times at which no server ran: nothing, or one run for all of them.',
      'once',
    ),
    jitter: duration('Delays each run by the same part of this time.', '5m', true).prefault(0),
    notify: key(
      z.array(z.string().min(1).max(200)).max(10).default([]),
      'Channels that are told how each run has ended: rooms of Slack, and webhooks.',
      ['slack:C0123ABCD', 'webhook:pager'],
      'a list of channels such as slack:C0123ABCD or webhook:pager',
    ),
  })
  .superRefine((one, context) => {
    const report = reporter(context)
    const given = (['cron', 'every', 'at'] as const).filter((name) => one[name] !== undefined)
    if (given.length !== 1) {
      const found = given.length === 0 ? 'none' : given.join(' and ')
      report([], `expected exactly one of cron, every and at, found ${found}. Write e.g. cron: "0 8 * * 1-5"`)
    }
    if (one.time_zone !== undefined && one.cron === undefined) {
      report('time_zone', 'only cron has a time zone. Remove it, or write a cron expression.')
    }
    if (one.jitter > LONGEST_JITTER_SECONDS) report('jitter', 'at most a day. Write e.g. jitter: 5m')
    if (one.every !== undefined && one.every < 1) report('every', 'at least a second. Write e.g. every: 1h')
  })

type ScheduleYaml = z.output<typeof schedule>

export const schedules = z
  .array(schedule)
  .max(100)
  .superRefine((list, context) => {
    for (const { index, first } of twinsIn(list, ({ name }) => name)) {
      const message = `schedules[${first}] already has this name. Give each schedule its own name.`
      reporter(context)([index, 'name'], message)
    }
  })

export const defineSchedule = (yaml: ScheduleYaml): ScheduleSettings => ({
  name: yaml.name,
  times:
    yaml.every !== undefined
      ? { type: 'every', ms: yaml.every * 1000 }
      : yaml.at !== undefined
        ? { type: 'at', at: Date.parse(yaml.at) }
        : { type: 'cron', cron: yaml.cron ?? '', timeZone: yaml.time_zone ?? 'UTC' },
  jitterMs: yaml.jitter * 1000,
  until: yaml.until === undefined ? null : Date.parse(yaml.until),
  count: yaml.count ?? null,
  missed: yaml.missed,
  message: yaml.message,
  inputs: yaml.inputs,
  session: yaml.session ?? null,
  owner: yaml.owner,
  notify: yaml.notify,
})
