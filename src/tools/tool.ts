/** Something the agent can call on the server. Every kind of tool is one implementation of this port. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>
  /** May a call be started again when a crash hid its outcome? `once`: never. */
  readonly effect: 'read' | 'idempotent' | 'once'
  readonly timeoutMs: number
  /** Runs one call. A throw becomes an error the model can read; its text must not hold internals. */
  call(call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome>
}

export interface ToolCallRequest {
  /** Unique for this call and the same when an idempotent call is repeated. */
  callId: string
  arguments: Record<string, unknown>
  sessionId: string
  runId: string
  owner: string
  forwardedProps: unknown
}

export interface ToolOutcome {
  content: string
  isError: boolean
}
