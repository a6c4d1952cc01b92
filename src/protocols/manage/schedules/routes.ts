// Schedules, for operators.

import { z } from 'zod'
import type { ScheduleSettings } from '../../../domain/agent/schedule.ts'
import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { refuseOtherAgent } from '../../../domain/supervision/token-role.ts'
import { answer, listOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Schedules, ShownSchedule, ShownTime } from '../../../schedules/schedules.ts'
import { startErrors } from '../../shared/answer/error-lists.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import {
  ChangedScheduleSchema,
  NewScheduleSchema,
  type Schedule,
  ScheduleSchema,
  type ScheduleTime,
  ScheduleTimeSchema,
} from './schema.ts'

export interface ScheduleRoutesDeps {
  /** Loads them. */
  schedules(): Promise<Schedules>
}

const NOT_TAKEN = 'The body does not describe a schedule.'
const tag = 'Schedules'
const params = { id: z.string().describe('Id of the schedule, such as `clerk.morning-report`.') }
const stored = ['record_not_found', 'storage_full', 'storage_failed'] as const

export function createScheduleRoutes(deps: ScheduleRoutesDeps): Route[] {
  async function list(_request: Request, reply: Reply): Promise<void> {
    const schedules = await (await deps.schedules()).list()
    reply.json(200, { schedules: schedules.map(scheduleView) })
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    reply.json(200, scheduleView(await (await deps.schedules()).get(idOf(request))))
  }

  async function add(request: Request, reply: Reply): Promise<void> {
    const sent = validBody(NewScheduleSchema, await request.json(), NOT_TAKEN)
    refuseOtherAgent(request.principal.agent, sent.agent)
    const settings = settingsOf(sent, request.principal.owner)
    const added = await (await deps.schedules()).add(sent.agent, settings)
    request.log.info('a schedule was made', { schedule: added.id, by: callerOf(request).user })
    reply.json(201, scheduleView(added), { Location: `/schedules/${added.id}` })
  }

  async function change(request: Request, reply: Reply): Promise<void> {
    const { paused } = validBody(ChangedScheduleSchema, await request.json(), 'The body is not valid here.')
    const changed = await (await deps.schedules()).pause(await allowed(request), paused)
    request.log.info(paused ? 'a schedule was paused' : 'a schedule goes on', {
      schedule: changed.id,
      by: callerOf(request).user,
    })
    reply.json(200, scheduleView(changed))
  }

  async function run(request: Request, reply: Reply): Promise<void> {
    const started = await (await deps.schedules()).run(await allowed(request), callerOf(request).user)
    reply.note({ session_id: started.sessionId ?? '', run_id: started.runId ?? '' })
    reply.json(202, timeView({ ...started, status: 'queued' }), { Location: `/runs/${started.runId}` })
  }

  async function remove(request: Request, reply: Reply): Promise<void> {
    const id = await allowed(request)
    await (await deps.schedules()).remove(id)
    request.log.info('a schedule was removed', { schedule: id, by: callerOf(request).user })
    reply.empty(204)
  }

  /** A token that is limited to an agent changes no schedule of another one. */
  async function allowed(request: Request): Promise<string> {
    const { id, agent } = await (await deps.schedules()).get(idOf(request))
    refuseOtherAgent(request.principal.agent, agent)
    return id
  }

  const { get, post, patch, del } = routeHeads(null, 'operator')
  const one = '/schedules/:id'
  return [
    {
      ...get,
      path: '/schedules',
      summary: 'List the schedules',
      describe: () => ({
        tag,
        description: 'Those of agent files and those that were made here, in the order of their ids.',
        responses: { 200: listOf('schedules', ScheduleSchema, 'The schedules, each with its newest time.') },
        errors: ['storage_failed'],
      }),
      handle: list,
    },
    {
      ...post,
      path: '/schedules',
      summary: 'Make a schedule',
      describe: () => ({
        tag,
        description:
          'Send exactly one of `cron`, `every_seconds` and `at`. Its runs are yours, and what they do while the session is busy is `sessions.on_busy` of the agent.',
        body: {
          schema: NewScheduleSchema,
          examples: {
            'every morning': {
              agent: 'clerk',
              name: 'morning-report',
              cron: '0 8 * * 1-5',
              time_zone: 'Europe/Berlin',
              message: 'Write the report of yesterday.',
            },
            'every hour': { agent: 'clerk', name: 'look', every_seconds: 3600, message: 'Is there anything new?' },
          },
        },
        responses: { 201: answer('The schedule.', ScheduleSchema) },
        errors: [
          'invalid_request',
          'forbidden',
          'agent_not_found',
          'conflict',
          'limit',
          'storage_full',
          'storage_failed',
        ],
      }),
      handle: add,
    },
    {
      ...get,
      path: one,
      summary: 'One schedule, with what became of its times',
      describe: () => ({
        tag,
        params,
        responses: { 200: answer('The schedule.', ScheduleSchema) },
        errors: ['record_not_found', 'storage_failed'],
      }),
      handle: show,
    },
    {
      ...patch,
      path: one,
      summary: 'Pause a schedule, or let it go on',
      describe: () => ({
        tag,
        params,
        body: { schema: ChangedScheduleSchema, examples: { pause: { paused: true }, resume: { paused: false } } },
        responses: { 200: answer('The schedule.', ScheduleSchema) },
        errors: ['invalid_request', 'forbidden', ...stored],
      }),
      handle: change,
    },
    {
      ...post,
      path: '/schedules/:id/run',
      summary: 'Start a run of a schedule now',
      describe: () => ({
        tag,
        description: 'Beside its times, which stay as they are. Works while it is paused too.',
        params,
        responses: { 202: answer('The run was started.', ScheduleTimeSchema, { by: 'operator', status: 'queued' }) },
        errors: ['forbidden', 'record_not_found', 'session_expired', 'quota_exceeded', ...startErrors],
      }),
      handle: run,
    },
    {
      ...del,
      path: one,
      summary: 'Remove a schedule',
      describe: () => ({
        tag,
        description: 'Its sessions stay. One that stands in the file of its agent can only be removed there.',
        params,
        responses: { 204: { description: 'It is removed.' } },
        errors: ['forbidden', 'conflict', ...stored],
      }),
      handle: remove,
    },
  ]
}

const idOf = ({ params: { id = '' } }: Request): string => id

function settingsOf(sent: z.output<typeof NewScheduleSchema>, owner: string): ScheduleSettings {
  const { name, message, inputs, session, count, missed, notify } = sent
  const until = sent.until === null ? null : Date.parse(sent.until)
  const same = { name, message, inputs, session, count, missed, notify, until, owner }
  return { ...same, times: timesOf(sent), jitterMs: sent.jitter_seconds * 1_000 }
}

function timesOf({
  cron,
  time_zone,
  every_seconds: every,
  at,
}: z.output<typeof NewScheduleSchema>): ScheduleSettings['times'] {
  const refuse = (pointer: string, detail: string): never => {
    throw new ServerError('invalid_request', NOT_TAKEN, { problems: [{ pointer, detail }] })
  }
  if ([cron, every, at].filter((one) => one !== undefined).length !== 1) {
    return refuse('', 'Send exactly one of cron, every_seconds and at.')
  }
  if (cron !== undefined) return { type: 'cron', cron, timeZone: time_zone ?? 'UTC' }
  if (time_zone !== undefined) return refuse('/time_zone', 'Only cron has a time zone: leave it out.')
  return every === undefined ? { type: 'at', at: Date.parse(at ?? '') } : { type: 'every', ms: every * 1_000 }
}

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

function scheduleView({ id, agent, settings, isInFile, state, next, past }: ShownSchedule): Schedule {
  const { times, jitterMs, until, ...same } = settings
  return {
    id,
    agent,
    ...same,
    inputs: { ...same.inputs },
    notify: [...same.notify],
    cron: times.type === 'cron' ? times.cron : null,
    time_zone: times.type === 'cron' ? times.timeZone : null,
    every_seconds: times.type === 'every' ? times.ms / 1_000 : null,
    at: times.type === 'at' ? isoTime(times.at) : null,
    until: timeOrNull(until),
    jitter_seconds: jitterMs / 1_000,
    in_file: isInFile,
    paused: state.isPaused,
    runs: state.runs,
    next_at: timeOrNull(next),
    past: past.map(timeView),
  }
}

const timeView = ({ due, at, by, outcome, runId, sessionId, status, why }: ShownTime): ScheduleTime => ({
  due: isoTime(due),
  at: isoTime(at),
  by,
  outcome,
  run_id: runId,
  session_id: sessionId,
  status,
  why,
})
