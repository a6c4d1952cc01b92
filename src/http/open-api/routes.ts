// GET /openapi.json: the document of all routes. GET /docs: a page to try them on, which needs nothing from elsewhere.

import { z } from 'zod'
import { readBuiltInPage } from '../pages/built-in-page.ts'
import type { Door, Reply, Request, Role, Route } from '../route.ts'
import type { RouteDescription } from '../route-description.ts'
import { type DocumentOptions, openApiDocument } from './document.ts'

export interface OpenApiRoutesDeps extends DocumentOptions {
  /** All others of the server. */
  routes: readonly Route[]
  /** Who may read the document needs no token. */
  publicDocs: boolean
  /** The open ones: the document lists their routes and those that have no door. Left out, all are open. */
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

/** Reads the page, which lies beside this file as source and in the published package. */
export function createOpenApiRoutes({ routes, publicDocs, doors, ...options }: OpenApiRoutesDeps): Route[] {
  const { html, policy } = readBuiltInPage(import.meta.url)
  const isOpen = (door: Door): boolean => doors === undefined || doors.includes(door)
  const role: Role = publicDocs ? 'public' : 'user'
  const shared = { method: 'GET', door: null, role, body: 'none' } as const
  // Made when somebody asks for it: a start should not wait for it, and most servers are never asked.
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
      summary: 'For a browser: a page to try this API on',
      describe: describePage,
      handle: showPage,
    },
    // The page that talks to the agent goes with the door it talks through. Also this one says nothing about the server: what it
    // shows it asks for, with the token that is typed there.
    ...(isOpen('ag-ui')
      ? []
      : [
          {
            ...shared,
            path: '/',
            role: 'public' as const,
            summary: 'For a browser: the same page as GET /docs',
            describe: describePage,
            handle: showPage,
          },
        ]),
  ]
  return own
}
