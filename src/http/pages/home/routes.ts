// GET /. It belongs to no door: browsers go on to a page, and programs get a text that says where things are.

import { z } from 'zod'
import { doors as allDoors } from '../../../doors.ts'
import type { Door, Route, RouteDescription } from '../../route.ts'
import { acceptedIn, publicPage } from '../page-folder.ts'

/** `hasConsole`: the pages of the console are open. `doors`: the open ones. */
export function createHomeRoutes({ hasConsole, doors }: { hasConsole: boolean; doors: readonly Door[] }): Route[] {
  // Somebody who opens REST alone has a client of their own and looks for its reference.
  const page = hasConsole && doors.join() !== 'rest' ? '/console/' : '/docs'
  const text = textOf(hasConsole, doors)
  return [
    {
      ...publicPage,
      path: '/',
      summary: 'Leads a browser to the console, and says where things are',
      describe,
      async handle(request, reply) {
        // `text/html` must be named: programs send a wildcard.
        if (acceptedIn(request.header('accept') ?? '').includes('text/html'))
          reply.empty(302, { Location: page, Vary: 'Accept' })
        else reply.text(200, text, 'text/plain; charset=utf-8', { Vary: 'Accept' })
      },
    },
  ]
}

const PAGES = [
  ['GET  /console/', 'the console, for operators'],
  ['GET  /talk/', 'a chat, for users'],
] as const

function textOf(hasConsole: boolean, open: readonly Door[]): string {
  const lines = [
    ...(hasConsole ? PAGES : []),
    ['GET  /docs', 'every route, to read and to try'],
    ['GET  /openapi.json', 'the same for programs'],
    ...allDoors.filter(({ name }) => open.includes(name)).map(({ home }) => home),
    ['POST /sessions/{id}/messages', 'sessions and runs'],
    ['GET  /health', 'whether it works'],
  ] as const
  return `This is a Quarterdeck server.\n\n${lines.map(([route, what]) => `  ${route.padEnd(28)} ${what}\n`).join('')}`
}

const describe = (): RouteDescription => ({
  tag: 'Pages',
  description: 'With `Accept: text/html` it redirects. It belongs to no protocol; `POST /` is AG-UI’s.',
  responses: {
    200: {
      description: 'A short text: where the pages and the protocols are.',
      content: { 'text/plain; charset=utf-8': { schema: z.string() } },
    },
    302: { description: 'For a browser.', headers: { Location: '`/console/`, or `/docs` if the console is off.' } },
  },
  errors: [],
})
