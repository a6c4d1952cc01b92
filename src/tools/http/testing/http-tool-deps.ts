import { createSystemClock } from '../../../domain/clock.ts'
import { type LogLine, recordingLogger } from '../../../domain/testing/recording-logger.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import type { HttpToolDeps } from '../service/call-service.ts'
import { createServiceHttp, type Lookup, systemLookup } from '../service/service-http.ts'

export function httpToolDeps(lines: LogLine[] = [], lookup: Lookup = systemLookup): HttpToolDeps {
  const clock = { ...createSystemClock(), mono: () => 0 }
  return { http: createServiceHttp({ connections: createConnections(), lookup }), clock, log: recordingLogger(lines) }
}
