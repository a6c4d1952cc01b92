// What an operator does with the session of an agent elsewhere.

import type { Reply, Request, Route } from '../../../http/route.ts'
import type { SupervisedSessions } from '../../../supervision/sessions/supervised-sessions.ts'
import type { Stalls } from '../../../supervision/stalls/stalls.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { supervisionView } from '../../shared/supervised/supervision-view.ts'
import {
  HandoverSchema,
  NewInstructionSchema,
  NewModeSchema,
  NoBodySchema,
  NudgeSchema,
  StallsSchema,
  TerminateSchema,
} from './command-schema.ts'
import { decodeBody, idIn } from './decode.ts'
import {
  describeHandover,
  describeMode,
  describeNudgeSession,
  describePause,
  describeResume,
  describeStalls,
  describeSteer,
  describeTask,
  describeTerminate,
  describeWorkspaceTask,
} from './describe-sessions.ts'
import { instructionView } from './encode.ts'

export interface SupervisedSessionRoutesDeps {
  sessions: Pick<
    SupervisedSessions,
    'get' | 'pause' | 'resume' | 'terminate' | 'steer' | 'addTask' | 'ofWorkspace' | 'setMode' | 'handOver'
  >
  stalls: Pick<Stalls, 'nudgeSession' | 'setEnabled'>
}

// Through the local socket, what gives an agent more room needs the passphrase. What takes room away, or only tells it something, does not.
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const

export function createSupervisedSessionRoutes(deps: SupervisedSessionRoutesDeps): Route[] {
  const { sessions, stalls } = deps

  async function show(reply: Reply, id: string): Promise<void> {
    reply.json(200, supervisionView(await sessions.get(id)))
  }

  /** Names the session in the log line of the request, too. */
  function sessionIn(request: Request, reply: Reply): string {
    const id = idIn(request)
    reply.note({ session_id: id })
    return id
  }

  async function pause(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    await decodeBody(request, NoBodySchema)
    reply.json(200, supervisionView(await sessions.pause(callerOf(request.principal, request.channel), id)))
  }

  async function resume(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    await decodeBody(request, NoBodySchema)
    reply.json(200, supervisionView(await sessions.resume(callerOf(request.principal, request.channel), id)))
  }

  async function terminate(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { reason } = await decodeBody(request, TerminateSchema)
    reply.json(200, supervisionView(await sessions.terminate(callerOf(request.principal, request.channel), id, reason)))
  }

  const instructing =
    (instruct: SupervisedSessions['steer']): Route['handle'] =>
    async (request, reply) => {
      const id = sessionIn(request, reply)
      const { text } = await decodeBody(request, NewInstructionSchema)
      reply.json(202, instructionView(await instruct(callerOf(request.principal, request.channel), id, text)))
    }

  async function leaveTask(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const { text } = await decodeBody(request, NewInstructionSchema)
    const { id } = await sessions.ofWorkspace(owner, request.params.id ?? '')
    reply.json(202, instructionView(await sessions.addTask(callerOf(request.principal, request.channel), id, text)))
  }

  async function setMode(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { mode } = await decodeBody(request, NewModeSchema)
    const { previous } = await sessions.setMode(callerOf(request.principal, request.channel), id, mode)
    reply.json(200, { previous_mode: previous, current_mode: mode })
  }

  async function nudge(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { message } = await decodeBody(request, NudgeSchema)
    await stalls.nudgeSession(callerOf(request.principal, request.channel), id, message)
    await show(reply, id)
  }

  async function setStalls(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { enabled } = await decodeBody(request, StallsSchema)
    const by = callerOf(request.principal, request.channel)
    reply.json(200, supervisionView(await stalls.setEnabled(by, id, enabled)))
  }

  async function handOver(request: Request, reply: Reply): Promise<void> {
    const id = sessionIn(request, reply)
    const { to } = await decodeBody(request, HandoverSchema)
    reply.json(200, supervisionView(await sessions.handOver(callerOf(request.principal, request.channel), id, to)))
  }

  return [
    {
      ...command,
      path: '/sessions/:id/pause',
      summary: 'Refuse the calls of an agent until it is resumed',
      describe: describePause,
      handle: pause,
    },
    {
      ...command,
      path: '/sessions/:id/resume',
      summary: 'Let a paused agent go on',
      describe: describeResume,
      handle: resume,
    },
    {
      ...command,
      path: '/sessions/:id/terminate',
      summary: 'End the session of an agent',
      describe: describeTerminate,
      handle: terminate,
    },
    {
      ...command,
      path: '/sessions/:id/steer',
      summary: 'Send an agent a message with its next result',
      describe: describeSteer,
      handle: instructing(sessions.steer),
    },
    {
      ...command,
      path: '/sessions/:id/task',
      summary: 'Leave a task for the next session in this workspace',
      describe: describeTask,
      handle: instructing(sessions.addTask),
    },
    {
      ...command,
      path: '/workspaces/:id/tasks',
      summary: 'Leave a task for your next session in a workspace',
      describe: describeWorkspaceTask,
      handle: leaveTask,
    },
    {
      ...command,
      path: '/sessions/:id/mode',
      summary: 'Choose where the questions of an agent are shown',
      describe: describeMode,
      handle: setMode,
    },
    {
      ...command,
      path: '/sessions/:id/nudge',
      summary: 'Nudge an agent',
      describe: describeNudgeSession,
      handle: nudge,
    },
    {
      ...command,
      path: '/sessions/:id/stalls',
      summary: 'Switch alerts about the silence of an agent off or on',
      describe: describeStalls,
      handle: setStalls,
    },
    {
      ...command,
      path: '/sessions/:id/handover',
      summary: 'Give a session to another operator',
      describe: describeHandover,
      handle: handOver,
    },
  ]
}
