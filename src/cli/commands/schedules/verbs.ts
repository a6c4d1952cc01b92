// What `quarterdeck schedules` does with the running server.

import { z } from 'zod'
import { isSpan, secondsOf, spanOf } from '../../../config/source/schema-key.ts'
import {
  type NewSchedule,
  type Schedule,
  ScheduleSchema,
  type ScheduleTime,
  ScheduleTimeSchema,
} from '../../../protocols/manage/schedules/schema.ts'
import { usageError } from '../../cli-error.ts'
import { localMinute, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import type { CtlContext } from '../ctl/ctl-server.ts'
import { understood } from '../ctl/records.ts'

export interface AddFlags {
  cron?: string
  timeZone?: string
  every?: string
  at?: string
  session?: string
  until?: string
  count?: string
  missed: string
  jitter?: string
  notify?: string[]
}

const pathOf = (id: string, rest = ''): string => `/schedules/${encodeURIComponent(id)}${rest}`

export async function list({ server, say }: CtlContext): Promise<void> {
  const answer = await server.get('/schedules')
  const { schedules } = understood(z.object({ schedules: z.array(ScheduleSchema) }), answer)
  if (schedules.length === 0) return say(answer, 'There are no schedules.')
  const rows = schedules.map((one) => [
    terminalLine(one.id, 130),
    terminalLine(timesText(one), 60),
    nextText(one),
    one.past[0] === undefined ? '' : `${localMinute(one.past[0].due)} ${outcomeText(one.past[0])}`,
  ])
  say(answer, textTable(['SCHEDULE', 'WHEN', `NEXT (${localZone()})`, 'LAST'], rows).trimEnd())
}

export async function add(
  { server, say }: CtlContext,
  names: Pick<NewSchedule, 'agent' | 'name' | 'message'>,
  { cron, timeZone, every, at, session, until, count, missed, jitter, notify }: AddFlags,
): Promise<void> {
  const sent = {
    ...names,
    cron,
    time_zone: timeZone,
    every_seconds: every === undefined ? undefined : secondsIn('--every', every),
    at,
    session,
    until,
    count: count === undefined ? undefined : Number(count),
    missed,
    jitter_seconds: jitter === undefined ? undefined : secondsIn('--jitter', jitter),
    notify,
  }
  const answer = await server.post('/schedules', sent)
  const made = understood(ScheduleSchema, answer)
  say(answer, `${made.id} comes next at ${nextText(made)}.`)
}

export async function pause(context: CtlContext, id: string): Promise<void> {
  context.say(await context.server.patch(pathOf(id), { paused: true }), `${terminalLine(id, 130)} is paused.`)
}

export async function resume({ server, say }: CtlContext, id: string): Promise<void> {
  const answer = await server.patch(pathOf(id), { paused: false })
  const resumed = understood(ScheduleSchema, answer)
  say(answer, `${resumed.id} comes next at ${nextText(resumed)}.`)
}

export async function run({ server, say }: CtlContext, id: string): Promise<void> {
  const answer = await server.post(pathOf(id, '/run'))
  const { run_id, session_id } = understood(ScheduleTimeSchema, answer)
  say(answer, `Started run ${run_id} in session ${session_id}.`)
}

export async function history({ server, say }: CtlContext, id: string): Promise<void> {
  const answer = await server.get(pathOf(id))
  const { past } = understood(ScheduleSchema, answer)
  if (past.length === 0) return say(answer, 'Nothing was due yet.')
  const rows = past.map((one) => [
    localMinute(one.due),
    outcomeText(one),
    one.session_id ?? '',
    terminalLine(one.why ?? (one.by === null ? '' : `by ${one.by}`), 200),
  ])
  say(answer, textTable([`DUE (${localZone()})`, 'RESULT', 'SESSION', ''], rows).trimEnd())
}

export async function remove({ server, say }: CtlContext, id: string): Promise<void> {
  say(await server.delete(pathOf(id)), `${terminalLine(id, 130)} is removed.`)
}

function secondsIn(flag: string, text: string): number {
  if (isSpan(text, true)) return secondsOf(text)
  throw usageError(`${flag} ${JSON.stringify(text)} is not a time.`, ['Write e.g. 30m, 1h or 2d.'])
}

function nextText({ next_at, paused }: Schedule): string {
  if (paused) return 'paused'
  return next_at === null ? 'ended' : localMinute(next_at)
}

const timesText = ({ cron, time_zone, every_seconds, at }: Schedule): string =>
  cron !== null ? `${cron} ${time_zone}` : at !== null ? at : `every ${spanOf(every_seconds ?? 0)}`

const outcomeText = ({ outcome, status }: ScheduleTime): string =>
  outcome === 'started' ? (status ?? 'gone') : outcome
