// GET /openapi.json describes all routes. GET /docs is a page to try them. The page loads nothing from other servers.

import { z } from 'zod'
import { readBuiltInPage } from '../pages/built-in-page.ts'
import type { Door, Reply, Request, Role, Route } from '../route.ts'
import type { RouteDescription } from '../route-description.ts'
import { type DocumentOptions, openApiDocument } from './document.ts'

interface OpenApiRoutesDeps extends DocumentOptions {
  /** All other routes of the server. */
  routes: readonly Route[]
  /** True: the document needs no token. */
  publicDocs: boolean
  /** The open doors. The document lists their routes and routes without a door. Default: all doors are open. */
  doors?: readonly Door[]
}

const tag = 'Pages'

const describeDocument: RouteDescription = {
  tag,
  responses: {
    200: {
      description: 'This document.',
      content: { 'application/json': { schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }) } },
    },
  },
  errors: [],
}

const describePage: RouteDescription = {
  tag,
  responses: { 200: { description: 'The page.', content: { 'text/html; charset=utf-8': { schema: z.string() } } } },
  errors: [],
}

/** Reads the page, which is next to this file in the source and in the published package. */
export function createOpenApiRoutes({ routes, publicDocs, doors, ...options }: OpenApiRoutesDeps): Route[] {
  const { html, policy } = readBuiltInPage(import.meta.url)
  const isOpen = (door: Door): boolean => doors === undefined || doors.includes(door)
  const role: Role = publicDocs ? 'public' : 'user'
  const shared = { method: 'GET', door: null, role, body: 'none' } as const
  // Made on the first request: a start should not wait for it, and most servers are never asked.
  let text: string | null = null

  async function showDocument(_request: Request, reply: Reply): Promise<void> {
    const open = routes.filter(({ door }) => door === null || isOpen(door))
    text ??= JSON.stringify(openApiDocument([...open, ...own], options))
    reply.text(200, text, 'application/json')
  }

  async function showPage(_request: Request, reply: Reply): Promise<void> {
    reply.text(200, html, 'text/html; charset=utf-8', { 'Content-Security-Policy': policy })
  }

  const own: Route[] = [
    {
      ...shared,
      path: '/openapi.json',
      summary: 'This API as an OpenAPI 3.1 document',
      describe: describeDocument,
      handle: showDocument,
    },
    {
      ...shared,
      path: '/docs',
      summary: 'For a browser: a page to try this API',
      describe: describePage,
      handle: showPage,
    },
  ]
  return own
}
