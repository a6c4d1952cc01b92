// The tools that agents elsewhere call. The descriptions are for models: when to call, what comes back, what to do with it.

import { z } from 'zod'
import { promptTypes } from '../../domain/records/record.ts'
import { operationalModes } from '../../domain/supervision/supervision.ts'
import type { AgentAnswer, AgentCall, AgentService } from '../../supervision/agent-service/agent-service.ts'
import { agentIdentity, type McpCallContext, type McpTool, type McpToolAnswer } from './tool-table.ts'

export const agentInstructions =
  'A person supervises your work through these tools. Before you change a file, call ask_approval with the whole change and wait for ' +
  'the answer; after a yes call accept_diff, and the server writes the file. Ask with forward_prompt when you do not know how to go ' +
  'on. Call heartbeat every few minutes during long work. When a result says "pending", call the same tool again with the id that it ' +
  'names. Read pending_steering in every result: it is what your operator wants now, and it comes before your own plan.'

const text = (most: number, description: string) => z.string().max(most).optional().describe(description)
const session_id = text(128, 'Only if this connection has several sessions: the id that an earlier result gave you.')
const risk = z.enum(['low', 'high', 'critical'])

/** Diffs and files may have 5 MB. The service checks the bytes and says so; here the text is only kept from being absurd. */
const MOST_DIFF_CHARS = 6_000_000

const PENDING =
  'The call waits for a person. {"status":"pending"} means that nobody has answered yet: call again with the id it names, and do not go on without the answer.'

export function createAgentTools(service: AgentService): McpTool[] {
  return [
    tool({
      name: 'ask_approval',
      title: 'Ask for approval of a change',
      description: `Ask your operator to approve a change of one file, before you make it. Send the change as a unified diff ("--- a/path", "+++ b/path", exact context), or the whole new text of the file. The answer is {"status":"approved"|"rejected"|"timeout"|"cancelled", "request_id", "reason"?}. After "approved" call accept_diff with the request_id: the server writes the file, you do not. With "edited": true the operator changed your text; "diff" shows what will be written. After "rejected" read the reason and propose something else, or ask with forward_prompt. ${PENDING} One change can wait at a time.`,
      input: z.strictObject({
        title: text(10_000, 'Required. What the change does, in one line.'),
        diff: text(MOST_DIFF_CHARS, 'Required. A unified diff, or the whole new text of the file.'),
        file_path: text(4_096, 'Required. The file, relative to the workspace.'),
        description: text(100_000, 'Why the change is right.'),
        risk_level: risk
          .optional()
          .describe('How much harm the change could do. Default low. The server may raise it.'),
        request_id: text(128, 'To go on waiting for an earlier request. Leave the rest out then.'),
        session_id,
      }),
      call: service.ask_approval,
    }),
    tool({
      name: 'accept_diff',
      title: 'Write an approved change',
      description:
        'Let the server write a change that ask_approval got approved. The answer is {"status":"applied", "files_written":[{"path","bytes"}]}. It works once. "patch_conflict" means that the file has changed since you asked: read it again and ask for a new approval.',
      input: z.strictObject({
        request_id: z.string().max(128).describe('From ask_approval.'),
        force: z
          .boolean()
          .optional()
          .describe('Overwrite a file that has changed. Works only if the operator allowed it.'),
        session_id,
      }),
      call: service.accept_diff,
    }),
    tool({
      name: 'approve_tool',
      title: 'Permission prompt',
      description:
        'For the host\'s permission prompt (--permission-prompt-tool), not for you: asks the operator whether a tool of the host may run, and answers {"behavior":"allow"|"deny"}.',
      input: z.strictObject({
        tool_name: z.string().max(500),
        input: z.record(z.string(), z.unknown()),
        tool_use_id: z.string().max(500).optional(),
        session_id,
      }),
      call: service.approve_tool,
      told: verdictOf,
    }),
    tool({
      name: 'check_auto_approve',
      title: 'Check whether something needs approval',
      description:
        'Ask whether the workspace policy would allow something without a person. The answer is {"auto_approved": true|false, "matched_rule"}. It allows nothing by itself: call ask_approval all the same, it is then answered at once.',
      input: z.strictObject({
        tool_name: z.string().min(1).max(500),
        context: z
          .strictObject({
            file_path: z.string().max(4_096).optional(),
            risk_level: risk.optional(),
            command: z.string().max(10_000).optional(),
          })
          .optional(),
        session_id,
      }),
      annotations: { readOnlyHint: true },
      call: service.check_auto_approve,
    }),
    tool({
      name: 'forward_prompt',
      title: 'Ask the operator',
      description: `Ask your operator a question: whether to go on, what was meant, what to do about an error. The answer is {"decision":"continue"|"refine"|"stop", "instruction"?, "reason"?}. "refine": do what instruction says. "stop": stop working and say where you are. ${PENDING}`,
      input: z.strictObject({
        prompt_text: text(100_000, 'Required. The question, with what the operator needs to know.'),
        prompt_type: z.enum(promptTypes).optional().describe('Default continuation.'),
        elapsed_seconds: z.number().min(0).optional().describe('How long you have worked.'),
        actions_taken: z.number().int().min(0).optional().describe('How many actions you have taken.'),
        prompt_id: text(128, 'To go on waiting for an earlier question. Leave the rest out then.'),
        session_id,
      }),
      call: service.forward_prompt,
    }),
    tool({
      name: 'remote_log',
      title: 'Tell the operator',
      description:
        'Tell your operator something that needs no answer: what you have done, what you found. It never waits. {"posted": false} has a reason, for example that no channel is configured; the line is in the log all the same. thread_ts: one of the threads of your session.',
      input: z.strictObject({
        message: z.string().max(100_000),
        level: z.enum(['info', 'success', 'warning', 'error']).optional(),
        thread_ts: z.string().max(100).optional(),
        session_id,
      }),
      call: service.remote_log,
    }),
    tool({
      name: 'recover_state',
      title: 'Find out where you were',
      description:
        'Call this first when you begin, or after a restart. {"status":"clean"}: there is nothing to take up. {"status":"recovered"}: use session_id from now on, ask again for each of pending_requests by its id, and go on with progress_snapshot and pending_tasks.',
      input: z.strictObject({ session_id }),
      call: (call) => {
        const { sessionId } = call.agent
        const agent = { ...call.agent, sessionId: null }
        return service.recover_state({ ...call, agent }, sessionId === null ? {} : { session_id: sessionId })
      },
    }),
    tool({
      name: 'set_operational_mode',
      title: 'Choose where the operator is asked',
      description:
        'Say where your operator should be asked: remote (chat and push), local (the terminal of this machine) or hybrid (both). The answer is {"previous_mode","current_mode"}. Critical questions go everywhere in every mode. Change it only if your operator told you to.',
      input: z.strictObject({ mode: z.enum(operationalModes), session_id }),
      call: service.set_operational_mode,
    }),
    tool({
      name: 'wait_for_instruction',
      title: 'Wait for an instruction',
      description: `Stand by until your operator tells you what to do next: call it when your work is done. The answer is {"status":"resumed","instruction"} or {"status":"timeout"}. The instruction "stop" means: you are done. ${PENDING}`,
      input: z.strictObject({
        message: text(100_000, 'What you have done and what you wait for.'),
        timeout_seconds: z.number().int().min(0).optional().describe('0 or left out: as configured.'),
        wait_id: text(128, 'To go on with an earlier wait.'),
        session_id,
      }),
      call: service.wait_for_instruction,
    }),
    tool({
      name: 'heartbeat',
      title: 'Say that you are alive',
      description:
        'Say that you are alive, and how far you are. Call it every few minutes during long work: otherwise your operator is alerted. The answer is {"acknowledged": true, "pending_steering": [...]}. Send the whole checklist each time; without progress_snapshot the last one stays.',
      input: z.strictObject({
        status_message: z.string().max(100_000).optional(),
        progress_snapshot: z
          .unknown()
          .optional()
          .meta({
            type: 'array',
            items: {
              type: 'object',
              properties: { label: { type: 'string' }, status: { enum: ['done', 'in_progress', 'pending'] } },
              required: ['label', 'status'],
            },
          }),
        session_id,
      }),
      call: service.heartbeat,
    }),
  ]
}

/** Claude Code takes everything but this text for a failure, and ignores the text if there is structured content too. */
function verdictOf({ answer, isError }: AgentAnswer): McpToolAnswer {
  const { behavior, updatedInput, message } = answer
  const verdict =
    isError || behavior !== 'allow'
      ? { behavior: 'deny', message: message ?? answer.error_message }
      : { behavior, updatedInput }
  return { structured: null, isError: false, text: JSON.stringify(verdict) }
}

const structuredAnswer = ({ answer, isError }: AgentAnswer): McpToolAnswer => ({ structured: answer, isError })

interface AgentTool<Input> extends Omit<McpTool, 'call'> {
  call(call: AgentCall, input: Input): Promise<AgentAnswer>
  /** The service's answer as the client gets it. */
  told?: (answer: AgentAnswer) => McpToolAnswer
}

/** `session_id` says which session calls; the rest is the tool's own input. */
function tool<Input>({ call, told = structuredAnswer, ...described }: AgentTool<Input>): McpTool {
  return {
    annotations: { readOnlyHint: false, openWorldHint: false },
    ...described,
    async call({ session_id: named, ...input }, context): Promise<McpToolAnswer> {
      return told(await call(callOf(context, named, told), input as Input))
    },
  }
}

const callOf = (
  { agent, signal, limitMs, isRead, progress, resumable }: McpCallContext,
  named: unknown,
  told: (answer: AgentAnswer) => McpToolAnswer,
): AgentCall => ({
  agent: agentIdentity(agent, typeof named === 'string' ? named : null),
  signal,
  limitMs,
  isRead,
  progress,
  ...(resumable === null
    ? {}
    : { resumable: { ...resumable, messageOf: (answer) => resumable.messageOf(told(answer)) } }),
})
