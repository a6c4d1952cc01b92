// GET /docs: a page to read and try every route. It shows the document of `/openapi.json`, which may need a token; the page asks for it.
// Below it are the pages for people, such as /docs/do/use-the-console.md, as text: help must be there without internet too.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import type { Route, RouteDescription } from '../../route.ts'
import { createPageFolder, publicPage } from '../page-folder.ts'

/** Its files are beside this one, in the source and in the published package. */
const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const AT = '/docs'
/** Packed with the program. This file is equally deep in `src` and in `dist`, so one path fits both. */
const GUIDES = fileURLToPath(new URL('../../../../docs', import.meta.url))
/** A shelf and a page on it. No such name leads out of the folder, or is too long for the disk. */
const GUIDE = /^(?:[a-z-]{1,50}\/)?[\w-]{1,50}\.md$/

export function createDocsRoutes(): Route[] {
  const page = createPageFolder(FOLDER).page({ at: AT, isPage: (path) => path === '' })
  return [
    {
      ...publicPage,
      path: `${AT}/*path`,
      summary: 'For a browser: a page to read and try all routes',
      describe,
      async handle(request, reply) {
        const path = request.params.path ?? ''
        const guide = GUIDE.test(path) ? await readGuide(path) : null
        if (guide !== null) return reply.text(200, guide, 'text/plain; charset=utf-8', { 'Cache-Control': 'no-cache' })
        if (!(await page.answer(path, request, reply))) throw new Error('index.html is missing')
      },
    },
  ]
}

/** Null: there is no such page. */
async function readGuide(path: string): Promise<string | null> {
  try {
    return await readFile(join(GUIDES, path), 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

const describe = (): RouteDescription => ({
  params: {
    path: z.string().describe('Empty for the page, one of its files, or a page of the docs: `do/use-the-console.md`.'),
  },
  tag: 'Pages',
  description:
    'The page is the same for everybody. It requests `/openapi.json` with the token that the person gives it. The docs of this version are below it, as text.',
  responses: {
    200: {
      description: 'The page, a file of it, or a page of the docs.',
      content: {
        'text/html; charset=utf-8': { schema: z.string() },
        'text/plain; charset=utf-8': { schema: z.string() },
      },
    },
    304: { description: 'The file has not changed.' },
  },
  errors: ['route_not_found'],
})
