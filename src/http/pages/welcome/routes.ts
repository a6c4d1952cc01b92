// GET / for a browser: a page to talk to the agent. It is the same for everybody and contains nothing about the server. It requests what
// it shows with the caller's own token, through the door `ag-ui`.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { Route } from '../../route.ts'
import type { RouteDescription } from '../../route-description.ts'
import { readBuiltInPage } from '../built-in-page.ts'

const SCRIPTS = ['visible.js', 'markdown.js', 'conversation.js', 'draw.js', 'page.js']

/** Reads the page, which is next to this file in the source and in the published package. */
export function createWelcomeRoutes(): Route[] {
  const { html, policy } = readBuiltInPage(import.meta.url, SCRIPTS)
  return [
    {
      method: 'GET',
      path: '/',
      body: 'none',
      door: 'ag-ui',
      // A browser sends no token when somebody types an address.
      role: 'public',
      summary: 'For a browser: a page to talk to the default agent',
      describe: describePage,
      async handle(request, reply) {
        if (!asksForHtml(request.header('accept'))) throw notForPrograms()
        reply.text(200, html, 'text/html; charset=utf-8', { 'Content-Security-Policy': policy })
      },
    },
  ]
}

const describePage: RouteDescription = {
  tag: 'Pages',
  description: 'Needs `Accept: text/html`. There is nothing for programs here.',
  responses: { 200: { description: 'The page.', content: { 'text/html; charset=utf-8': { schema: z.string() } } } },
  errors: ['method_not_allowed'],
}

/** `text/html` must be named: programs send a wildcard, and get an error that says what they can use. */
function asksForHtml(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

/** The same answer as for a path without GET. */
const notForPrograms = (): ServerError =>
  new ServerError('method_not_allowed', '/ does not answer GET; it answers POST, OPTIONS.', {
    details: { allow: ['POST', 'OPTIONS'] },
  })
