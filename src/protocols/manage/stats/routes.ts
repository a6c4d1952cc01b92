// How busy the server is, for operators.

import { type Clock, isoTime } from '../../../domain/clock.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { type Stats, StatsSchema } from './schema.ts'

export interface StatsRoutesDeps {
  clock: Pick<Clock, 'now'>
  /** Everything is read from memory or by an index. */
  readStats(): Promise<Omit<Stats, 'at'>>
}

export function createStatsRoutes({ clock, readStats }: StatsRoutesDeps): Route[] {
  async function show(_request: Request, reply: Reply): Promise<void> {
    const body: Stats = { at: isoTime(clock.now()), ...(await readStats()) }
    reply.json(200, body)
  }

  return [
    {
      ...routeHeads(null, 'operator').get,
      path: '/stats',
      summary: 'How busy the server is',
      describe: () => ({
        tag: 'Operations',
        description:
          'A few figures at one moment, cheap enough to ask for every few seconds. `GET /metrics` has more, for Prometheus.',
        responses: { 200: answer('The figures.', StatsSchema) },
        errors: ['storage_failed'],
      }),
      handle: show,
    },
  ]
}
