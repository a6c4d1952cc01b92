import type { AnyRecord, ClientCall } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { PreparedAnswer } from '../gate.ts'
import type { AcceptedRun } from './runs.ts'

/** What runs wait for. An answer from outside the conversation starts the continuation, which runs by itself. */
export interface Waits {
  /** Wall time for judging deadlines. A clock that jumps ahead does not make a wait expire early. */
  now(): number
  /** Answers a wait. `answered` of the result says whether it was applied. Null: the session is gone. */
  answer(wait: AnyRecord, prepared: PreparedAnswer, correlationId?: string): Promise<AcceptedRun | null>
  /** Ends a wait that has expired. Does nothing if it was answered meanwhile. */
  expire(wait: AnyRecord): Promise<void>
  /** The calls of client tools that a session waits for. */
  openClientCalls(sessionId: string): Promise<ClientCall[]>
  /** Throws `tool_call_not_found`, also for somebody else's call. */
  clientCall(owner: string, id: string): Promise<ClientCall>
  /** Takes the result of a client tool. Throws `tool_call_answered`, `tool_call_expired`. */
  answerClientCall(
    owner: string,
    id: string,
    /** `durationMs`: how long the client says it took. */
    result: { content: string; isError: boolean; durationMs?: number },
    correlationId?: string,
  ): Promise<RunRecord>
}
