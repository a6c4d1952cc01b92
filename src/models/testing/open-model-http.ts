import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { createConnections } from '../../outgoing/connections.ts'
import { createModelHttp, type ModelHttp } from '../wire/model-http.ts'

/** Has its own connections. */
export function openModelHttp(clock: Clock = createSystemClock()): ModelHttp & { close(): void } {
  const connections = createConnections()
  const http = createModelHttp({ connections, clock, userAgent: 'quarterdeck/test' })
  return { ...http, close: connections.close }
}
