// The run that goes on after an answer: its input, and what the answers add to the command that takes it.

import { present } from '../../domain/present.ts'
import type { ClientCall } from '../../domain/records/record.ts'
import type { NewMessage, RunInput, RunRecord } from '../../domain/session/run.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import { grantScope } from '../../domain/supervision/grant.ts'
import type { AcceptRun } from '../../store/ports/runs.ts'
import type { PreparedAnswer } from '../gate.ts'
import { boundedResult } from '../loop/call-records.ts'
import type { AgentParts } from '../run/run-scope.ts'

export interface Continuation {
  command: Pick<AcceptRun, 'answers' | 'grants' | 'answerAudit'>
  input: RunInput
  /** The run that waited. */
  parent: RunRecord | null
}

export interface Answers {
  prepared: readonly PreparedAnswer[]
  /** Client calls whose results are among the messages of the input. */
  results: readonly ClientCall[]
  at: number
}

export function continuationOf(
  parent: RunRecord | null,
  input: RunInput,
  { prepared, results, at }: Answers,
  agents: ReadonlyMap<string, AgentParts>,
): Continuation {
  const resultChars = agents.get(parent?.agent ?? '')?.definition.limits.toolResultChars ?? Number.POSITIVE_INFINITY
  const callOf = ({ toolCallId }: NewMessage) => results.find((call) => call.callId === toolCallId)
  return {
    parent,
    input: {
      ...inherited(parent?.input, input),
      messages: input.messages.map((message) => {
        const call = callOf(message)
        if (call === undefined) return message
        const content =
          typeof message.content === 'string' ? boundedResult(message.content, resultChars) : message.content
        return { ...message, content, lane: call.lane ?? message.lane }
      }),
    },
    command: {
      answers: [
        ...prepared.map(({ answer }) => answer),
        ...results.map(({ id, owner }) => ({ waitId: id, at, by: owner, outcome: { type: 'answered' as const } })),
      ],
      grants: prepared.flatMap(({ grant }) => (grant === null ? [] : [grant])),
      answerAudit: Object.fromEntries(prepared.flatMap(auditOf)),
    },
  }
}

/** The continuation is the same piece of work, so it keeps what the first run was given, unless the answer brings something else. */
function inherited(before: RunInput | undefined, { regenerateAfter, ...given }: RunInput): RunInput {
  const responseFormat = given.responseFormat ?? before?.responseFormat
  return {
    ...given,
    ...present({ model: given.model ?? before?.model, memories: before?.memories }),
    // Only a new user message can branch the conversation.
    regenerateAfter: given.messages.some(isUserMessage) ? regenerateAfter : undefined,
    instructions: given.instructions.length > 0 ? given.instructions : (before?.instructions ?? []),
    context: given.context.length > 0 ? given.context : (before?.context ?? []),
    responseFormat,
    clientTools: given.clientTools.length > 0 ? given.clientTools : (before?.clientTools ?? []),
  }
}

export const isUserMessage = ({ role }: NewMessage): boolean => role === 'user'

/** The records of an answer and of its grant, each by the id of what it is written for. */
function auditOf({ answer, grant, audit }: PreparedAnswer): (readonly [string, AuditRecord])[] {
  if (audit === null) return []
  const decision = [answer.waitId, audit] as const
  if (grant === null) return [decision]
  const details = {
    grant: grant.id,
    approval: grant.approvalId,
    scope: grantScope(grant),
    ...present({ effect: grant.effect }),
  }
  return [decision, [grant.id, { ...audit, kind: 'grant_made', details }]]
}
