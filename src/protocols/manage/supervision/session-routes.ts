// What an operator does with the session of an agent elsewhere.

import type { z } from 'zod'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route, RouteDescription } from '../../../http/route.ts'
import type { SupervisedSessions } from '../../../supervision/sessions/supervised-sessions.ts'
import type { SupervisedSession } from '../../../supervision/sessions/take-step.ts'
import type { Spawner } from '../../../supervision/spawn/create-spawner.ts'
import type { Stalls } from '../../../supervision/stalls/stalls.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { SupervisionSchema } from '../../shared/supervised/schema.ts'
import { supervisionView } from '../../shared/supervised/supervision-view.ts'
import { decodeBody, idIn } from './decode.ts'
import { instructionView } from './encode.ts'
import {
  commandErrors,
  HandoverSchema,
  InstructionSchema,
  ModesSchema,
  NewInstructionSchema,
  NewModeSchema,
  NoBodySchema,
  NudgeSchema,
  StallsSchema,
  SteeringSchema,
  sessionParams,
  TerminateSchema,
  supervisionTag as tag,
} from './schema.ts'

export interface SupervisedSessionRoutesDeps {
  sessions: Pick<
    SupervisedSessions,
    'get' | 'pause' | 'resume' | 'terminate' | 'steer' | 'addTask' | 'ofWorkspace' | 'setMode' | 'handOver'
  >
  stalls: Pick<Stalls, 'nudgeSession' | 'setEnabled'>
  spawner: Pick<Spawner, 'wake'>
}

// Through the local socket, what allows an agent more needs the passphrase. What allows it less, or only tells it something, does not.
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const
const shared = { tag, params: sessionParams } as const
const sessionAnswer = (differing: object = {}) => ({ 200: answer('The session.', SupervisionSchema, differing) })

const describeTask = (): RouteDescription => ({
  ...shared,
  description: 'Goes to the next session of this owner in this workspace. At most 100 wait.',
  body: { schema: NewInstructionSchema, examples: { task: { text: 'Then update the docs.' } } },
  responses: {
    202: answer('The task waits.', InstructionSchema, {
      kind: 'task',
      session_id: null,
      text: 'Then update the docs.',
    }),
  },
  errors: [...commandErrors, 'limit'],
})

export function createSupervisedSessionRoutes(deps: SupervisedSessionRoutesDeps): Route[] {
  const { sessions, stalls, spawner } = deps

  /** Names the session in the log line of the request, too. */
  function sessionIn(request: Request, reply: Reply): string {
    const id = idIn(request)
    reply.note({ session_id: id })
    return id
  }

  /** A command whose answer is the session. */
  const commanding =
    <Body>(
      schema: z.ZodType<Body>,
      act: (by: Caller, id: string, body: Body) => Promise<SupervisedSession>,
    ): Route['handle'] =>
    async (request, reply) => {
      const id = sessionIn(request, reply)
      const body = await decodeBody(request, schema)
      reply.json(200, supervisionView(await act(callerOf(request), id, body)))
    }

  async function steer(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { text, now = false } = await decodeBody(request, SteeringSchema)
    const instruction = await sessions.steer(callerOf(request), id, text)
    if (now) await spawner.wake(id)
    reply.json(202, instructionView(instruction))
  }

  async function addTask(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { text } = await decodeBody(request, NewInstructionSchema)
    reply.json(202, instructionView(await sessions.addTask(callerOf(request), id, text)))
  }

  async function leaveTask(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const { text } = await decodeBody(request, NewInstructionSchema)
    const { id } = await sessions.ofWorkspace(owner, request.params.id ?? '')
    reply.json(202, instructionView(await sessions.addTask(callerOf(request), id, text)))
  }

  async function setMode(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { mode } = await decodeBody(request, NewModeSchema)
    const { previous } = await sessions.setMode(callerOf(request), id, mode)
    reply.json(200, { previous_mode: previous, current_mode: mode })
  }

  return [
    {
      ...command,
      path: '/sessions/:id/pause',
      summary: 'Refuse the calls of an agent until it is resumed',
      describe: () => ({
        ...shared,
        description:
          'The agent’s calls are refused with a text that tells it to wait, and its host’s hooks are denied. Its process goes on. May be repeated.',
        body: { schema: NoBodySchema, examples: { pause: {} } },
        responses: sessionAnswer({ status: 'paused' }),
        errors: [...commandErrors, 'session_ended'],
      }),
      handle: commanding(NoBodySchema, sessions.pause),
    },
    {
      ...command,
      path: '/sessions/:id/resume',
      summary: 'Let a paused agent go on',
      describe: () => ({
        ...shared,
        description: 'May be repeated. Also brings an interrupted session back.',
        body: { schema: NoBodySchema, examples: { resume: {} } },
        responses: sessionAnswer(),
        errors: [...commandErrors, 'session_ended', 'limit'],
      }),
      handle: commanding(NoBodySchema, sessions.resume),
    },
    {
      ...command,
      path: '/sessions/:id/terminate',
      summary: 'End the session of an agent',
      describe: () => ({
        ...shared,
        description:
          'What the agent asked is interrupted, and a process that was started from here is ended. May be repeated.',
        body: { schema: TerminateSchema, examples: { terminate: {}, 'with a reason': { reason: 'Wrong branch.' } } },
        responses: sessionAnswer({ status: 'terminated', terminated_at: '2026-11-15T09:05:00.000Z' }),
        errors: commandErrors,
      }),
      handle: commanding(TerminateSchema, (by, id, { reason }) => sessions.terminate(by, id, reason)),
    },
    {
      ...command,
      path: '/sessions/:id/steer',
      summary: 'Send an agent a message with its next result',
      describe: () => ({
        ...shared,
        description:
          'The text goes out with every result until the agent’s next call proves that it has it. A hosted agent hears it when it has done what it is at, or with its next message; with `now`, one that rests hears it at once. At most 50 wait.',
        body: {
          schema: SteeringSchema,
          examples: {
            steer: { text: 'Use the test database.' },
            'wake it up': { text: 'Use the test database.', now: true },
          },
        },
        responses: { 202: answer('The text waits for the agent.', InstructionSchema) },
        errors: [...commandErrors, 'session_ended', 'limit'],
      }),
      handle: steer,
    },
    {
      ...command,
      path: '/sessions/:id/task',
      summary: 'Leave a task for the next session in this workspace',
      describe: describeTask,
      handle: addTask,
    },
    {
      ...command,
      path: '/workspaces/:id/tasks',
      summary: 'Leave a task for your next session in a workspace',
      describe: () => ({
        ...describeTask(),
        description:
          'Goes to your next session in this workspace; none has to run now. The id is one of `workspaces` in quarterdeck.yaml, or the path of a folder where agents may work, URL-encoded. At most 100 wait.',
        errors: ['invalid_request', 'forbidden', 'limit'],
      }),
      handle: leaveTask,
    },
    {
      ...command,
      path: '/sessions/:id/mode',
      summary: 'Choose where the questions of an agent are shown',
      describe: () => ({
        ...shared,
        description:
          '`local`: the terminal of this machine. `remote`: chat, push and webhooks. `hybrid`: both. HTTP and the console show everything in every mode, and what is critical is shown everywhere.',
        body: { schema: NewModeSchema, examples: { local: { mode: 'local' } } },
        responses: { 200: answer('The modes before and now.', ModesSchema) },
        errors: [...commandErrors, 'session_ended'],
      }),
      handle: setMode,
    },
    {
      ...command,
      path: '/sessions/:id/nudge',
      summary: 'Nudge an agent',
      describe: () => ({
        ...shared,
        description: 'Works without an alert, too.',
        body: { schema: NudgeSchema, examples: { 'the usual text': {}, 'own words': { message: 'How far are you?' } } },
        responses: sessionAnswer({ nudge_count: 1 }),
        errors: [...commandErrors, 'session_ended'],
      }),
      handle: commanding(NudgeSchema, async (by, id, { message }) => {
        await stalls.nudgeSession(by, id, message)
        await spawner.wake(id)
        return sessions.get(id)
      }),
    },
    {
      ...command,
      path: '/sessions/:id/stalls',
      summary: 'Switch alerts about the silence of an agent off or on',
      describe: () => ({
        ...shared,
        description:
          'While they are off, the silence of this agent raises no alert and no nudge. An alert that is open is dismissed.',
        body: { schema: StallsSchema, examples: { off: { enabled: false }, on: { enabled: true } } },
        responses: sessionAnswer({ stalls_enabled: false }),
        errors: [...commandErrors, 'session_ended'],
      }),
      handle: commanding(StallsSchema, (by, id, { enabled }) => stalls.setEnabled(by, id, enabled)),
    },
    {
      ...command,
      path: '/sessions/:id/handover',
      summary: 'Give a session to another operator',
      describe: () => ({
        ...shared,
        description: 'For admins. What waits in the session gets the new owner too.',
        body: { schema: HandoverSchema, examples: { handover: { to: 'grace' } } },
        responses: sessionAnswer({ owner_user_id: 'grace' }),
        errors: commandErrors,
      }),
      handle: commanding(HandoverSchema, (by, id, { to }) => sessions.handOver(by, id, to)),
    },
  ]
}
