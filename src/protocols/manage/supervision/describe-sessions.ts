// What the commands for sessions of agents elsewhere take and answer, for the OpenAPI document.

import { z } from 'zod'
import { answer } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { SupervisionSchema } from '../../shared/supervised/schema.ts'
import {
  HandoverSchema,
  NewInstructionSchema,
  NewModeSchema,
  NoBodySchema,
  NudgeSchema,
  StallsSchema,
  TerminateSchema,
} from './command-schema.ts'
import { commandErrors, supervisionTag as tag } from './describe-records.ts'
import { InstructionSchema, ModesSchema } from './schema.ts'

export const sessionParams = { id: z.string().describe('Id of a supervised session: a UUID or a ULID.') }
const shared = { tag, params: sessionParams } as const
const sessionAnswer = (differing: object = {}) => ({ 200: answer('The session.', SupervisionSchema, differing) })

export const describePause: RouteDescription = {
  ...shared,
  description:
    'The agent’s calls are refused with a text that tells it to wait, and its host’s hooks are denied. Its process goes on. May be repeated.',
  body: { schema: NoBodySchema, examples: { pause: {} } },
  responses: sessionAnswer({ status: 'paused' }),
  errors: [...commandErrors, 'session_ended'],
}

export const describeResume: RouteDescription = {
  ...shared,
  description: 'May be repeated. Also brings an interrupted session back.',
  body: { schema: NoBodySchema, examples: { resume: {} } },
  responses: sessionAnswer(),
  errors: [...commandErrors, 'session_ended', 'limit'],
}

export const describeTerminate: RouteDescription = {
  ...shared,
  description:
    'What the agent asked is interrupted, and a process that was started from here is ended. May be repeated.',
  body: { schema: TerminateSchema, examples: { terminate: {}, 'with a reason': { reason: 'Wrong branch.' } } },
  responses: sessionAnswer({ status: 'terminated', terminated_at: '2026-11-15T09:05:00.000Z' }),
  errors: commandErrors,
}

export const describeSteer: RouteDescription = {
  ...shared,
  description:
    'The text goes out with every result until the agent’s next call proves that it has it. At most 50 wait.',
  body: { schema: NewInstructionSchema, examples: { steer: { text: 'Use the test database.' } } },
  responses: { 202: answer('The text waits for the agent.', InstructionSchema) },
  errors: [...commandErrors, 'session_ended', 'limit'],
}

export const describeTask: RouteDescription = {
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
}

export const describeWorkspaceTask: RouteDescription = {
  ...describeTask,
  description:
    'Goes to your next session in this workspace; none has to run now. The id is one of `workspaces` in quarterdeck.yaml, or the path of a folder where agents may work, URL-encoded. At most 100 wait.',
  errors: ['invalid_request', 'forbidden', 'limit'],
}

export const describeMode: RouteDescription = {
  ...shared,
  description:
    '`local`: the terminal of this machine. `remote`: chat, push and webhooks. `hybrid`: both. HTTP and the console show everything in every mode, and what is critical is shown everywhere.',
  body: { schema: NewModeSchema, examples: { local: { mode: 'local' } } },
  responses: {
    200: answer('The modes before and now.', ModesSchema),
  },
  errors: [...commandErrors, 'session_ended'],
}

export const describeNudgeSession: RouteDescription = {
  ...shared,
  description: 'Works without an alert, too.',
  body: { schema: NudgeSchema, examples: { 'the usual text': {}, 'own words': { message: 'How far are you?' } } },
  responses: sessionAnswer({ nudge_count: 1 }),
  errors: [...commandErrors, 'session_ended'],
}

export const describeStalls: RouteDescription = {
  ...shared,
  description:
    'While they are off, the silence of this agent raises no alert and no nudge. An alert that is open is dismissed.',
  body: { schema: StallsSchema, examples: { off: { enabled: false }, on: { enabled: true } } },
  responses: sessionAnswer({ stalls_enabled: false }),
  errors: [...commandErrors, 'session_ended'],
}

export const describeHandover: RouteDescription = {
  ...shared,
  description: 'For admins. What waits in the session gets the new owner too.',
  body: { schema: HandoverSchema, examples: { handover: { to: 'grace' } } },
  responses: sessionAnswer({ owner_user_id: 'grace' }),
  errors: commandErrors,
}
