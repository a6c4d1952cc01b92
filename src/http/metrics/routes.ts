import { describeMetrics } from '../health/health-description.ts'
import type { Role, Route } from '../route.ts'
import { type Metrics, metricsContentType } from './metrics.ts'

/** `role`: the operator's beyond loopback; on loopback a user's is enough. */
export function metricsRoutes(metrics: Metrics, role: Exclude<Role, 'public'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      body: 'none',
      door: null,
      role,
      anytime: true,
      summary: 'Metrics of the server in the text format of Prometheus.',
      describe: describeMetrics(metricsContentType),
      async handle(_request, reply) {
        reply.text(200, metrics.text(), metricsContentType)
      },
    },
  ]
}
