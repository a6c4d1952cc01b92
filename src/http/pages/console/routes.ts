// The pages for people: the console, and the page for users. Each is one page for every address below its own, and its files, which
// both share. `npm run build -w console` writes them to dist/console.

import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { isLoopback } from '../../../domain/is-loopback.ts'
import type { Reply, Request, Route, RouteDescription } from '../../route.ts'
import { isEncrypted } from '../../server/target.ts'
import { createPageFolder, publicPage } from '../page-folder.ts'

interface ConsoleRoutesDeps {
  /** False: the pages answer 404 and say why. All other routes stay as they are. */
  isOpen: boolean
  basePath: string
  /** What the build wrote. */
  folder: string
  /** Origins of the web pages that may show the page for users in a frame. */
  frameOrigins: readonly string[]
}

/** Where the build writes it. This file is equally deep in `src` and in `dist`, so one path fits both. */
export const CONSOLE_FOLDER = fileURLToPath(new URL('../../../../dist/console', import.meta.url))

export function createConsoleRoutes({ isOpen, basePath, folder, frameOrigins }: ConsoleRoutesDeps): Route[] {
  const pages = createPageFolder(folder)
  const consolePage = pages.page({ at: '/console', isPage })
  const talkPage = pages.page({ index: 'talk/index.html', at: '/talk', frameOrigins, isPage })

  async function answer(page: typeof talkPage, request: Request, reply: Reply): Promise<void> {
    const isThere = await page.answer(request.params.path ?? '', request, reply)
    if (!isThere) reply.text(404, NOT_BUILT, 'text/plain; charset=utf-8')
  }
  const closed = async (_request: Request, reply: Reply) => reply.text(404, CLOSED, 'text/plain; charset=utf-8')
  return [
    {
      ...publicPage,
      path: '/console/*path',
      summary: 'For a browser: the console',
      describe: () =>
        describe('A page of the console, such as `inbox/{id}`, or one of its files. May be empty.', MOVED),
      handle: !isOpen
        ? closed
        : async (request, reply) => {
            const better = localhostUrl(request.raw)
            if (better === null) return answer(consolePage, request, reply)
            reply.empty(307, { Location: `${better}${basePath}${request.path}${queryOf(request.raw)}` })
          },
    },
    {
      ...publicPage,
      path: '/console/app-frame',
      summary: 'For a browser: the frame in which the console shows an app',
      describe: describeFrame,
      handle: !isOpen
        ? closed
        : async (request, reply) => (await import('./app-frame.ts')).answerAppFrame(request, reply, frameOrigins),
    },
    {
      ...publicPage,
      path: '/talk/*path',
      summary: 'For a browser: the page on which users talk',
      describe: () => describe('A chat, such as `chat/{id}`, or one of the files of the page. May be empty.', {}),
      handle: !isOpen ? closed : (request, reply) => answer(talkPage, request, reply),
    },
  ]
}

/** An unknown file must not get the page: a browser would take it for a script. Ids in addresses may have dots. */
const isPage = (path: string): boolean => !path.startsWith('assets/') && (path.includes('/') || !path.includes('.'))

const CLOSED =
  'The pages for people are off on this server (--no-console, or console: false). All other routes work: see /docs.\n'
const NOT_BUILT = `The pages for people are not built. In the folder of Quarterdeck, run:

  npm run build -w console

Then load this page again. The server can keep running.
`

/**
 * Passkeys work at localhost and not at 127.0.0.1, and a browser keeps what it stores apart for each name. So people who are on the
 * server's machine get the one name. Null: the address is fine, or is not ours to judge because a proxy is in between.
 */
function localhostUrl({ headers, socket }: IncomingMessage): string | null {
  const named = /^(?:127\.0\.0\.1|\[::1\])(?::(\d+))?$/.exec(headers.host ?? '')
  if (named === null || !isLoopback(socket.remoteAddress ?? '')) return null
  if (headers.forwarded !== undefined || headers.via !== undefined || headers['x-forwarded-for'] !== undefined)
    return null
  const [, port] = named
  const isTls = isEncrypted(socket)
  // The guard answers for localhost at our own port only.
  if (Number(port ?? (isTls ? 443 : 80)) !== socket.localPort) return null
  return `${isTls ? 'https' : 'http'}://localhost${port === undefined ? '' : `:${port}`}`
}

function queryOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark)
}

const MOVED: RouteDescription['responses'] = {
  307: { description: 'The same page at `localhost`.', headers: { Location: 'The address.' } },
}

const domains = z.string().optional()

const describeFrame = (): RouteDescription => ({
  tag: 'Pages',
  description: 'Empty, and sandboxed. The console writes an app of an MCP server into it.',
  query: {
    connect: domains.describe(
      'Where the app may connect to, such as `https://api.example.com`. Several times for several.',
    ),
    resource: domains.describe('Where it may load scripts, styles, pictures and fonts from.'),
    frame: domains.describe('What it may show in frames.'),
  },
  responses: { 200: { description: 'The frame.', content: { 'text/html; charset=utf-8': { schema: z.string() } } } },
  errors: [],
})

const describe = (path: string, more: RouteDescription['responses']): RouteDescription => ({
  params: { path: z.string().describe(path) },
  errors: ['route_not_found'],
  tag: 'Pages',
  description:
    'The page is the same for everybody and holds no data. It requests what it shows with the token of the person who signed in.',
  responses: {
    200: { description: 'The page, or a file of it.', content: { 'text/html; charset=utf-8': { schema: z.string() } } },
    304: { description: 'The file has not changed.' },
    ...more,
    404: {
      description: 'There is no such file, or the pages are off, or not built.',
      content: { 'text/plain; charset=utf-8': { schema: z.string() } },
    },
  },
})
