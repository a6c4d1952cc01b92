// Serves a folder of our own pages: a page, and the scripts, styles and pictures that it loads. Everybody may read them. They
// hold no data: what they show, they fetch with the token of whoever looks at them.

import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { ServerError } from '../../domain/errors.ts'
import type { Reply, Request } from '../route.ts'

/** What the routes of all pages are. A browser sends no token when somebody opens an address. */
export const publicPage = { method: 'GET', body: 'none', door: null, role: 'public' } as const

interface PageOptions {
  /** The page, which names its files as seen from its own folder. Default: `index.html`. */
  index?: string
  /** Path of the first page, for example `/console`. */
  at: string
  /** Origins of the web pages that may show this one in a frame, and which it may trust. Default: none. */
  frameOrigins?: readonly string[]
  /** Whether a path below `at` that is not the name of a file is an address of the page. */
  isPage(path: string): boolean
}

/** Nothing is loaded from elsewhere, nothing in the page itself is run, and text can never become code. */
const policyFor = (frameOrigins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    // Apps of MCP servers, in a frame of ours. This also keeps an app from leaving for another page.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameOrigins.length === 0 ? "'none'" : frameOrigins.join(' ')}`,
    "require-trusted-types-for 'script'",
    // The page needs a policy for the address of its service worker.
    'trusted-types quarterdeck',
  ].join('; ')

/** Every file has them: a service worker obeys the policy of its own script. */
const headersFor = (frameOrigins: readonly string[]) => ({
  'Content-Security-Policy': policyFor(frameOrigins),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
})

/** Files of other kinds, such as our own sources, are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

const INDEX = 'index.html'
/** Where a page reads whom it may trust. */
const FRAME_ORIGINS = /<meta name="frame-origins" content=""/
/** The build puts a hash into the names of these files, so a name never gets another content. */
const HASHED = 'assets/'
const A_YEAR = 'public, max-age=31536000, immutable'
/** What is smaller fits into one packet anyway. */
const SMALL_BYTES = 1_400

/** `page` serves one of the pages in the folder. All of them share its files. */
export function createPageFolder(folder: string) {
  // Read as a whole, so that a build in the meantime cannot mix old and new files, and on first use: most servers never show a page.
  let reading: Promise<Files> | null = null

  /** Null: the folder does not have the page. It may be built while the server runs. */
  async function filesWith(index: string): Promise<{ found: Files; page: PageFile } | null> {
    reading ??= readFiles(folder)
    const found = await reading
    const page = found.get(index)
    if (page === undefined) reading = null
    return page === undefined ? null : { found, page }
  }

  return {
    page({ index = INDEX, at, frameOrigins = [], isPage }: PageOptions) {
      const headers = headersFor(frameOrigins)
      const own = index.includes('/') ? '="../' : '="./'
      return {
        /** Answers `path`, which is what follows `at`. Resolves to false, and answers nothing, if the folder does not have the page. */
        async answer(path: string, request: Request, reply: Reply): Promise<boolean> {
          const files = await filesWith(index)
          if (files === null) return false
          const { found, page } = files
          const file = path.endsWith(INDEX) ? undefined : found.get(path)
          if (file !== undefined) {
            await sendFile({ folder, path, file }, headers, request, reply)
            return true
          }
          if (!isPage(path)) throw noSuchFile(at)
          const html = page.content
            .toString()
            .replaceAll(own, () => `="${wayBack(at, request.path)}`)
            .replace(FRAME_ORIGINS, (meta) => meta.replace('""', () => `"${frameOrigins.join(' ')}"`))
          reply.text(200, html, page.type, headers)
          return true
        },
      }
    },
  }
}

/**
 * From a page's address to `at`: the page names its files by `./…`, and it has many addresses. A relative way also works behind a
 * proxy that adds a path of which we know nothing.
 */
function wayBack(at: string, path: string): string {
  if (path === at) return `.${at}/`
  const depth = path.slice(at.length + 1).split('/').length - 1
  return depth === 0 ? './' : '../'.repeat(depth)
}

type Files = ReadonlyMap<string, PageFile>

interface PageFile {
  type: string
  content: Buffer
  etag: string
  /** Compressed on first use, once. */
  compressed: Map<Encoding, Promise<Uint8Array>>
}

/** By their names below the folder. Requests only look a name up here, so no path leads out of it. Empty: there is no such folder. */
async function readFiles(folder: string): Promise<Files> {
  try {
    const names = await readdir(folder, { recursive: true })
    // A folder such as `.vite` has notes of the build.
    const known = names.filter((name) => TYPES[extname(name)] !== undefined && !name.startsWith('.'))
    const files = await Promise.all(
      known.map(async (name): Promise<[string, PageFile]> => {
        const content = await readFile(join(folder, name))
        const etag = `W/"${hash('sha256', content, 'base64url').slice(0, 22)}"`
        const type = TYPES[extname(name)] ?? ''
        return [name.split(sep).join('/'), { type, content, etag, compressed: new Map() }]
      }),
    )
    return new Map(files)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map()
    throw error
  }
}

async function sendFile(
  { folder, path, file }: { folder: string; path: string; file: PageFile },
  common: Readonly<Record<string, string>>,
  request: Request,
  reply: Reply,
): Promise<void> {
  const headers = {
    ...common,
    'Cache-Control': path.startsWith(HASHED) ? A_YEAR : 'no-cache',
    ETag: file.etag,
    Vary: 'Accept-Encoding',
    // The page without its last slash belongs to the worker too.
    ...(path === 'service-worker.js'
      ? { 'Service-Worker-Allowed': request.path.replace(/^.*\/([^/]+)\/[^/]+$/, '../$1') }
      : {}),
  }
  if (isKnown(request.header('if-none-match'), file.etag)) return reply.empty(304, headers)
  const encoding = file.content.length < SMALL_BYTES ? null : encodingFor(file.type, request.header('accept-encoding'))
  if (encoding === null) return reply.bytes(200, file.content, file.type, headers)
  const compress = () => compressors[encoding](file.content)
  // The build compresses what has a hash in its name. Another build may have removed it since.
  const isBuilt = encoding === 'br' && path.startsWith(HASHED)
  const made = () => (isBuilt ? readFile(join(folder, `${path}.br`)).catch(compress) : compress())
  const bytes = file.compressed.get(encoding) ?? made()
  file.compressed.set(encoding, bytes)
  reply.bytes(200, await bytes, file.type, { ...headers, 'Content-Encoding': encoding })
}

const isKnown = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((one) => one.trim() === etag || one.trim() === '*') === true

type Encoding = 'br' | 'gzip'

/** At this quality brotli needs milliseconds and is nearly as good as at its best, which needs a second. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const compressors: Readonly<Record<Encoding, (content: Uint8Array) => Promise<Uint8Array>>> = {
  br: (content) => promisify(brotliCompress)(content, QUALITY),
  gzip: (content) => promisify(gzip)(content),
}

/** The better one of those that the client takes. Null: the content as it is. */
function encodingFor(type: string, accept = ''): Encoding | null {
  if (!/^text\/|json|svg/.test(type)) return null
  const taken = acceptedIn(accept)
  if (taken.includes('br')) return 'br'
  return taken.includes('gzip') ? 'gzip' : null
}

/** What a header like `Accept` names, in lower case, without what it refuses (`q=0`). */
export const acceptedIn = (header: string): string[] =>
  header
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)))
    .map(([name = '']) => name)

const noSuchFile = (at: string): ServerError =>
  new ServerError(
    'route_not_found',
    `There is no such file under ${at}/. If the server was updated, load the page again.`,
  )
