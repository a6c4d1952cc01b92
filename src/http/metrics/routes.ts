import { z } from 'zod'
import type { Role, Route } from '../route.ts'
import { type Metrics, metricsContentType, metricsText } from './metrics.ts'

/** `role` is `operator` when the server can be reached from other machines, and `user` on loopback. */
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
      describe: () => ({
        tag: 'Operations',
        responses: { 200: { description: 'All metrics.', content: { [metricsContentType]: { schema: z.string() } } } },
        errors: [],
      }),
      async handle(_request, reply) {
        reply.text(200, metricsText(await metrics.families()), metricsContentType)
      },
    },
  ]
}
