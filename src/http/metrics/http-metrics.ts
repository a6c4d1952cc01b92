import type { Answer } from '../server/dispatch.ts'
import type { HttpStats } from '../server/server.ts'
import { type ServerStateName, serverStates } from '../server-state.ts'
import type { Metrics } from './metrics.ts'

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
// A method is the client's choice; only those of the protocol become labels.
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'])

/** Returns what to call for every answer. */
export function registerHttpMetrics(
  metrics: Metrics,
  stats: () => HttpStats,
  state: () => ServerStateName,
): (answer: Answer) => void {
  const count = metrics.counter('quarterdeck_http_requests_total', 'Requests answered.', ['method', 'route', 'status'])
  const observe = metrics.histogram('quarterdeck_http_response_seconds', 'Time until the answer began.', {
    buckets: BUCKETS,
    labels: ['route'],
  })
  metrics.gauge('quarterdeck_http_streams', 'Open streams.', () => stats().streams)
  metrics.gauge('quarterdeck_http_connections', 'Open connections.', () => stats().connections)
  metrics.gauge('quarterdeck_http_requests_in_work', 'Requests not answered completely.', () => stats().inWork)
  metrics.gauge('quarterdeck_state', 'The state the server is in has the value 1.', () =>
    serverStates.map((name) => ({ labels: { state: name }, value: name === state() ? 1 : 0 })),
  )
  return ({ method, route, status, seconds }) => {
    count(METHODS.has(method) ? method : '-', route, String(status))
    observe(seconds, route)
  }
}
