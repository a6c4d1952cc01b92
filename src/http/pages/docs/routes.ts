// GET /docs: a page to read and try every route. It shows the document of `/openapi.json`, which may need a token; the page asks for it.

import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Route, RouteDescription } from '../../route.ts'
import { createPageFolder, publicPage } from '../page-folder.ts'

/** Its files are beside this one, in the source and in the published package. */
const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const AT = '/docs'

export function createDocsRoutes(): Route[] {
  const pages = createPageFolder({ folder: FOLDER, at: AT, isPage: (path) => path === '' })
  return [
    {
      ...publicPage,
      path: `${AT}/*path`,
      summary: 'For a browser: a page to read and try all routes',
      describe,
      async handle(request, reply) {
        if (!(await pages.answer(request.params.path ?? '', request, reply))) throw new Error('index.html is missing')
      },
    },
  ]
}

const describe = (): RouteDescription => ({
  params: { path: z.string().describe('Empty for the page, or one of its files.') },
  tag: 'Pages',
  description:
    'The page is the same for everybody. It requests `/openapi.json` with the token that the person gives it.',
  responses: {
    200: { description: 'The page, or a file of it.', content: { 'text/html; charset=utf-8': { schema: z.string() } } },
    304: { description: 'The file has not changed.' },
  },
  errors: ['route_not_found'],
})
