import { createSystemClock } from '../../../domain/clock.ts'
import { type LogFields, type Logger, silentLogger } from '../../../domain/logger.ts'
import type { ToolCallRequest } from '../../tool.ts'
import type { HttpToolDeps } from '../call-service.ts'
import { createServiceHttp, type Lookup, systemLookup } from '../service-http.ts'

export const never: AbortSignal = new AbortController().signal

export const toolCall = (args: Record<string, unknown>, callId = 'call-1'): ToolCallRequest => ({
  callId,
  arguments: args,
  sessionId: 'session-1',
  runId: 'run-1',
  owner: 'owner-1',
  agent: 'agent-1',
  forwardedProps: null,
  resultChars: 50_000,
  voice: {
    log: silentLogger,
    state: () => null,
    setState() {},
    emit() {},
    activity() {},
    progress() {},
  },
})

export interface LogLine {
  level: string
  message: string
  fields: LogFields
}

export function recordingLogger(lines: LogLine[], base: LogFields = {}): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields: { ...base, ...fields } })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => recordingLogger(lines, { ...base, ...fields }),
  }
}

export function httpToolDeps(lines: LogLine[] = [], lookup: Lookup = systemLookup): HttpToolDeps {
  const clock = { ...createSystemClock(), mono: () => 0 }
  return { http: createServiceHttp({ lookup }), clock, log: recordingLogger(lines) }
}
