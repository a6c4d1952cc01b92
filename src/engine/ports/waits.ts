import type { RunRecord } from '../../domain/run.ts'
import type { ClientCall, Wait } from '../../domain/wait.ts'

/** What runs wait for, apart from a person's decision: see `approvals.ts` for that. */
export interface Waits {
  /** The calls of client tools that a session waits for. */
  openClientCalls(sessionId: string): Promise<ClientCall[]>
  /** Throws `tool_call_not_found`, also for somebody else's call. */
  clientCall(owner: string, id: string): Promise<ClientCall>
  /** Takes the result of a client tool from outside the conversation. Throws `tool_call_answered`, `tool_call_expired`. */
  answerClientCall(
    owner: string,
    id: string,
    /** `durationMs`: how long the client says it took. */
    result: { content: string; isError: boolean; durationMs?: number },
    correlationId?: string,
  ): Promise<RunRecord>
  /** Ends a wait that has expired. Does nothing if it was answered meanwhile. The continuation, if there is one, runs by itself. */
  expire(wait: Wait): Promise<void>
}
