// Signing in to the MCP servers of the agents: see which want it, begin, come back, sign out.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { answer, listOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Asking, SignInDesk, SignInView } from '../../../supervision/sign-ins/sign-in-desk.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { decodeBody } from '../supervision/decode.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import { type McpSignIn, type McpSignInLink, McpSignInLinkSchema, McpSignInSchema } from './schema.ts'

interface SignInRoutesDeps {
  desk: SignInDesk
  /** Where people open this server in a browser, without a slash at the end. */
  base: string
}

const COOKIE = 'quarterdeck_mcp_sign_in'
const COOKIE_SECONDS = 600
const tag = 'MCP sign-in'

export function createMcpSignInRoutes({ desk, base }: SignInRoutesDeps): Route[] {
  const askingOf = (request: Request): Asking => ({ by: callerOf(request), owner: request.principal.owner })

  async function list(request: Request, reply: Reply): Promise<void> {
    reply.json(200, { sign_ins: (await desk.list(askingOf(request))).map(signInView) })
  }

  async function begin(request: Request, reply: Reply): Promise<void> {
    await decodeBody(request, NoBodySchema)
    // A browser at another address than the one that the authorization server leads back to would not have the cookie then.
    const isHere = base !== '' && new URL(base).host === request.header('host')
    const browser = request.principal.isConsole === true && isHere ? randomBytes(32).toString('base64url') : null
    const { link } = await desk.begin(askingOf(request), request.params.id ?? '', browser)
    const body: McpSignInLink = { link }
    const path = `${new URL(base).pathname.replace(/\/$/, '')}/sign-ins/callback`
    const secure = base.startsWith('https:') ? '; Secure' : ''
    // `Lax`: the browser comes back from another site.
    const cookie = `${COOKIE}=${browser}; Path=${path}; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`
    reply.json(200, body, browser === null ? {} : { 'Set-Cookie': cookie })
  }

  async function callback(request: Request, reply: Reply): Promise<void> {
    const { query, log } = request
    const back = {
      state: query.get('state'),
      code: query.get('code'),
      iss: query.get('iss'),
      error: query.get('error'),
    }
    const browser = new RegExp(`(?:^|; *)${COOKIE}=([\\w-]{43})`).exec(request.header('cookie') ?? '')?.[1] ?? null
    try {
      const { server } = await desk.end(back, browser)
      reply.text(
        200,
        pageOf('Signed in', `The agents can use the MCP server “${server}” now. You can close this page.`),
        HTML,
      )
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      log.info('a sign-in to an MCP server was refused', { code: error.code })
      reply.text(400, pageOf('Not signed in', error.message), HTML)
    }
  }

  async function document(_request: Request, reply: Reply): Promise<void> {
    const body = desk.document()
    if (body === null) {
      throw new ServerError(
        'route_not_found',
        'There is no client document: set channels.public_url to an https address.',
      )
    }
    reply.json(200, body)
  }

  async function out(request: Request, reply: Reply): Promise<void> {
    await desk.out(askingOf(request), request.params.id ?? '')
    reply.empty(204)
  }

  const { get, post, del } = routeHeads(null, 'user')
  const { get: open } = routeHeads(null, 'public')
  const params = { id: z.string().describe('From `GET /sign-ins`.') }
  return [
    {
      ...get,
      path: '/sign-ins',
      summary: 'List the MCP servers that people sign in to',
      describe: () => ({
        tag,
        description: 'Where each user signs in for themselves, the state is that of the caller.',
        responses: { 200: listOf('sign_ins', McpSignInSchema, 'In the order of the agent files.') },
        errors: ['storage_failed'],
      }),
      handle: list,
    },
    {
      ...post,
      path: '/sign-ins/:id',
      summary: 'Begin to sign in to an MCP server',
      describe: () => ({
        tag,
        description:
          'Gives the address to open in a browser. Begun in the console, it ends only in the same browser. With a token, only an operator begins. When the state of the list changes, it is done.',
        params,
        body: { schema: NoBodySchema, examples: { 'nothing to say': {} } },
        responses: { 200: answer('The address.', McpSignInLinkSchema) },
        errors: ['record_not_found', 'forbidden', 'tool_failed', 'storage_failed'],
      }),
      handle: begin,
    },
    {
      ...del,
      path: '/sign-ins/:id',
      summary: 'Sign out of an MCP server',
      describe: () => ({
        tag,
        description: 'Forgets the tokens here. The authorization server still knows them until they end.',
        params,
        responses: { 204: { description: 'Nobody is signed in.' } },
        errors: ['record_not_found', 'forbidden', 'storage_failed'],
      }),
      handle: out,
    },
    {
      ...open,
      path: '/sign-ins/callback',
      summary: 'Where the authorization server sends the browser back to',
      describe: () => ({
        tag,
        query: {
          state: z.string().optional(),
          code: z.string().optional(),
          iss: z.string().optional(),
          error: z.string().optional(),
        },
        responses: {
          200: { description: 'A page: signed in.', content: { [HTML]: { schema: z.string() } } },
          400: { description: 'A page that says why not.', content: { [HTML]: { schema: z.string() } } },
        },
        errors: ['storage_failed'],
      }),
      handle: callback,
    },
    {
      ...open,
      path: '/sign-ins/client.json',
      summary: 'What this server says of itself to authorization servers',
      describe: () => ({
        tag,
        description:
          'A client-id metadata document. There is one where `channels.public_url` is an https address and an agent has such a server.',
        responses: {
          200: {
            description: 'The document.',
            content: {
              'application/json': {
                schema: z.record(z.string(), z.unknown()),
                example: { client_id: 'https://deck.example.com/sign-ins/client.json' },
              },
            },
          },
        },
        errors: ['route_not_found'],
      }),
      handle: document,
    },
  ]
}

const HTML = 'text/html; charset=utf-8'

const signInView = ({ at, by, agents, ...same }: SignInView): McpSignIn => ({
  ...same,
  agents: [...agents],
  signed_in_at: at === null ? null : isoTime(at),
  signed_in_by: by,
})

/** Loads nothing and runs nothing. */
const pageOf = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${escaped(text)}</p></html>\n`

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
