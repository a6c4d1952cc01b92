import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { type LogLine, recordingLogger } from '../../../domain/testing/recording-logger.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import type { ToolCallRequest } from '../../tool.ts'
import type { HttpToolDeps } from '../service/call-service.ts'
import { createServiceHttp, type Lookup, systemLookup } from '../service/service-http.ts'

export const never: AbortSignal = new AbortController().signal

export const toolCall = (args: Record<string, unknown>, callId = 'call-1', log = silentLogger): ToolCallRequest => ({
  callId,
  arguments: args,
  sessionId: 'session-1',
  runId: 'run-1',
  owner: 'owner-1',
  agent: 'agent-1',
  forwardedProps: null,
  resultChars: 50_000,
  voice: {
    log,
    state: () => null,
    setState() {},
    emit() {},
    activity() {},
    progress() {},
  },
})

export function httpToolDeps(lines: LogLine[] = [], lookup: Lookup = systemLookup): HttpToolDeps {
  const clock = { ...createSystemClock(), mono: () => 0 }
  return { http: createServiceHttp({ connections: createConnections(), lookup }), clock, log: recordingLogger(lines) }
}
