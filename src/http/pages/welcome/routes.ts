// GET / for a browser: a page to talk to the agent. It is the same for everybody and says nothing about the server; what it
// shows it asks for with the caller's own token, through the door `ag-ui`.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { Route } from '../../route.ts'
import type { RouteDescription } from '../../route-description.ts'
import { readBuiltInPage } from '../built-in-page.ts'

const SCRIPTS = ['visible.js', 'markdown.js', 'conversation.js', 'draw.js', 'page.js']

/** Reads the page, which lies beside this file as source and in the published package. */
export function createWelcomeRoutes(): Route[] {
  const { html, policy } = readBuiltInPage(import.meta.url, SCRIPTS)
  return [
    {
      method: 'GET',
      path: '/',
      body: 'none',
      door: 'ag-ui',
      // A browser cannot send a token with the address that somebody typed.
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
  description: 'With `Accept: text/html`; a program has nothing to get here.',
  responses: { 200: { description: 'The page.', content: { 'text/html; charset=utf-8': { schema: z.string() } } } },
  errors: ['method_not_allowed'],
}

/** Only by name: a wildcard is what programs send, and they are told what is here for them. */
function asksForHtml(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

/** The answer of a path that has no GET at all. */
const notForPrograms = (): ServerError =>
  new ServerError('method_not_allowed', '/ does not answer GET; it answers POST, OPTIONS.', {
    details: { allow: ['POST', 'OPTIONS'] },
  })
