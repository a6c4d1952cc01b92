import { createSystemClock } from '../../../domain/clock.ts'
import { type LogLine, recordingLogger } from '../../../domain/testing/recording-logger.ts'
import type { HttpToolDeps } from '../service/call-service.ts'
import { type Lookup, systemLookup } from '../service/service-http.ts'
import { openServiceHttp } from './open-service-http.ts'

export function httpToolDeps(lines: LogLine[] = [], lookup: Lookup = systemLookup): HttpToolDeps {
  const clock = { ...createSystemClock(), mono: () => 0 }
  return { http: openServiceHttp({ lookup }), clock, log: recordingLogger(lines) }
}
