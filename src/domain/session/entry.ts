// The entries of a session's log: one sequence with two kinds of entries.

import type { Effect } from '../agent/tool-settings.ts'
import type { TokenUsage } from './event.ts'
import type { FeedbackValue } from './message.ts'

/** `data` is JSON text, created once: it is stored and sent to every AG-UI 1.0 reader as it is. It never contains a raw newline. */
export interface Entry {
  seq: number
  /** The run of this entry (our own id, not the one on the wire); null for a fact outside a run. */
  runId: string | null
  kind: EntryKind
  data: string
}

/** Events are AG-UI events of a run. Facts are ours and never appear on an AG-UI stream. */
export type EntryKind = 'event' | 'fact'

export const isEvent = ({ kind }: Entry): boolean => kind === 'event'

export type Fact =
  | { fact: 'run_accepted'; run: string; message_ids: string[]; at: number }
  /** `died`: the process that executed the run died without releasing it. */
  | { fact: 'run_recovered'; run: string; fence: number; died?: true | undefined; at: number }
  /** The process that executes the run was told to stop. If it dies now, the run is not to blame. */
  | { fact: 'stopping'; run: string; at: number }
  | { fact: 'cancel_requested'; run: string; by: string; at: number }
  /** A tool call is about to start. Written together with the use of its approval, if it has one. `lane`: the sub-agent's. */
  | {
      fact: 'tool_intent'
      run: string
      call: string
      tool: string
      effect: Effect
      binding?: string
      approval?: string | undefined
      lane?: string | undefined
      at: number
    }
  /** The tool of a call that had begun asked a person a question. The call stopped there and goes on from its start when there is an answer. */
  | { fact: 'tool_suspended'; run: string; call: string; lane?: string | undefined; at: number }
  /** `lane`: the sub-agent's. */
  | { fact: 'step_finished'; run: string; step: number; usage: TokenUsage[]; lane?: string | undefined; at: number }
  | { fact: 'handed_over'; run: string; to: string; at: number }
  /** Older messages have a summary in the requests to the model from now on. `message` is its own. */
  | {
      fact: 'summarized'
      message: string
      up_to: string
      messages: number
      model: string
      usage: readonly TokenUsage[]
      cost: number | null
      at: number
    }
  /** A person named the session. Null: it has its automatic title again. */
  | { fact: 'renamed'; title: string | null; by: string; at: number }
  /** What a person thinks of an answer. Null: they took it back. */
  | { fact: 'feedback'; message: string; value: FeedbackValue | null; note: string | null; by: string; at: number }
  /** The answer to an MCP request, on the stream of the request. A client that could not read it gets it after a restart too. */
  | { fact: 'mcp_answered'; connection: string; stream: string; message: object; at: number }
  /** What an MCP client was told without a request. `n` is the number of the event in the client's own stream. */
  | { fact: 'mcp_told'; connection: string; n: number; message: object; at: number }

export const factText = (fact: Fact): string => JSON.stringify(fact)
