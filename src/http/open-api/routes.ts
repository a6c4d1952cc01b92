// GET /openapi.json describes all routes.

import { z } from 'zod'
import type { Door, Route, RouteDescription } from '../route.ts'
import type { DocumentOptions } from './document.ts'

interface OpenApiRoutesDeps extends DocumentOptions {
  /** All other routes of the server. */
  routes: () => Promise<readonly Route[]>
  /** True: the document needs no token. */
  publicDocs: boolean
  /** The open doors. The document lists their routes and routes without a door. */
  doors: readonly Door[]
}

const describeDocument = (): RouteDescription => ({
  tag: 'Pages',
  responses: {
    200: {
      description: 'This document.',
      content: { 'application/json': { schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }) } },
    },
  },
  errors: [],
})

export function createOpenApiRoutes({ routes, publicDocs, doors, ...options }: OpenApiRoutesDeps): Route[] {
  // Made on the first request: a start should not wait for it, and most servers are never asked.
  let text: string | null = null
  const own: Route = {
    method: 'GET',
    path: '/openapi.json',
    door: null,
    role: publicDocs ? 'public' : 'user',
    body: 'none',
    summary: 'This API as an OpenAPI 3.1 document',
    describe: describeDocument,
    async handle(_request, reply) {
      const { openApiDocument } = await import('./document.ts')
      const open = (await routes()).filter(({ door }) => door === null || doors.includes(door))
      text ??= JSON.stringify(openApiDocument([...open, own], options))
      reply.text(200, text, 'application/json')
    },
  }
  return [own]
}
