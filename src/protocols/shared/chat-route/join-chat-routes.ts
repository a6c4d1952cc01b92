// `POST /chat` exists in two protocols: chat and sessions (`rest`), and chat and threads (`threads`). The body decides which one
// answers; if it does not, the Accept header decides.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type {
  BodyDescription,
  Door,
  Request,
  ResponseDescription,
  Route,
  RouteDescription,
} from '../../../http/route.ts'
import { doorClosed } from '../../../http/server/router.ts'
import { problemShapeWith } from '../answer/answer-failure.ts'
import { wantsType } from '../events/stream-events.ts'

type Family = Extract<Door, 'rest' | 'threads'>

/** Keys that only one of them has. */
const ownKeys: Readonly<Record<Family, readonly string[]>> = {
  rest: ['session_id', 'user_id'],
  threads: ['thread_id', 'stream', 'metadata'],
}

const clashShape = problemShapeWith({ invalid_request: 422 })

const isChat = (route: Route): boolean => route.method === 'POST' && route.path === '/chat'

/** All routes, with the two `POST /chat` joined into one. `doors` are the open protocols; a request to a closed one is refused as usual. */
export function joinChatRoutes(routes: readonly Route[], doors: readonly Door[]): Route[] {
  const rest = routes.find((route) => isChat(route) && route.door === 'rest')
  const threads = routes.find((route) => isChat(route) && route.door === 'threads')
  if (rest === undefined || threads === undefined) return [...routes]
  const open = (['rest', 'threads'] as const).filter((family) => doors.includes(family))
  // If both are closed, the router refuses the request.
  if (open.length === 0) return routes.filter((route) => route !== threads)

  async function handle(...[request, reply]: Parameters<Route['handle']>): Promise<void> {
    const named = await familiesNamed(request)
    if (named.length > 1) return reply.fail(clash(await request.json()), clashShape)
    const [only] = open
    const family = named[0] ?? (open.length === 1 && only !== undefined ? only : byAccept(request))
    if (!open.includes(family)) throw doorClosed(family)
    const routes = { rest, threads }
    await routes[family]?.handle(request, reply)
  }

  const joined: Route = {
    method: 'POST',
    path: '/chat',
    body: 'message',
    door: null,
    role: 'user',
    summary: 'Send a message',
    ...descriptionOf([rest, threads].filter(({ door }) => open.some((family) => family === door))),
    handle,
  }
  return routes.filter((route) => route !== threads).map((route) => (route === rest ? joined : route))
}

/** Describes only open protocols. */
function descriptionOf(routes: readonly Route[]): Pick<Route, 'describe'> {
  const [first, second] = routes.flatMap(({ describe }) => describe ?? [])
  if (first === undefined) return {}
  return { describe: second === undefined ? first : () => joinDescriptions(first(), second()) }
}

/** The protocols whose keys the body has. None if the body is not an object: the protocol that answers reports that. */
async function familiesNamed(request: Request): Promise<Family[]> {
  const body = await request.json().catch(() => null)
  if (!isRecord(body)) return []
  return (['rest', 'threads'] as const).filter((family) => keysIn(body, family).length > 0)
}

const keysIn = (body: object, family: Family): string[] => ownKeys[family].filter((key) => Object.hasOwn(body, key))

const byAccept = (request: Request): Family =>
  wantsType(request.header('accept'), 'text/event-stream') ? 'threads' : 'rest'

function clash(body: unknown): ServerError {
  const found = typeof body === 'object' && body !== null ? body : {}
  const [sessions, threads] = [keysIn(found, 'rest'), keysIn(found, 'threads')]
  const words = `${sessions.join(', ')} (a chat in a session) and ${threads.join(', ')} (a chat in a thread)`
  return new ServerError('invalid_request', `The body mixes ${words}. Send the keys of one of them.`, {
    problems: [...sessions, ...threads].map((key) => ({
      pointer: `/${key}`,
      detail: `Does not go with ${(sessions.includes(key) ? threads : sessions).join(', ')}.`,
    })),
  })
}

type Content = NonNullable<ResponseDescription['content']>

/** Describes two protocols behind one route: either body, either answer, the errors of both. */
function joinDescriptions(a: RouteDescription, b: RouteDescription): RouteDescription {
  const statuses = new Set([...Object.keys(a.responses), ...Object.keys(b.responses)].map(Number))
  const responses: Record<number, ResponseDescription> = {}
  for (const status of statuses) {
    const joined = joinResponses(a.responses[status], b.responses[status])
    if (joined !== undefined) responses[status] = joined
  }
  const body = joinBodies(a, b)
  return {
    tag: a.tag,
    description: [`${a.tag}: ${a.description ?? ''}`, `${b.tag}: ${b.description ?? ''}`].join('\n\n'),
    headers: { ...a.headers, ...b.headers },
    ...(body === undefined ? {} : { body }),
    responses,
    errors: [...new Set([...a.errors, ...b.errors])],
  }
}

function joinBodies(a: RouteDescription, b: RouteDescription): BodyDescription | undefined {
  if (a.body === undefined || b.body === undefined) return a.body ?? b.body
  const named = ({ tag, body }: RouteDescription) =>
    Object.entries(body?.examples ?? {}).map(([name, example]) => [`${tag}: ${name}`, example])
  return {
    schema: z.union([a.body.schema, b.body.schema]),
    examples: Object.fromEntries([...named(a), ...named(b)]),
  }
}

function joinResponses(a?: ResponseDescription, b?: ResponseDescription): ResponseDescription | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const content: Record<string, Content[string]> = { ...a.content }
  for (const [type, of] of Object.entries(b.content ?? {})) {
    const other = content[type]
    content[type] = other === undefined ? of : { ...other, schema: z.union([other.schema, of.schema]) }
  }
  return { description: a.description, content, headers: { ...a.headers, ...b.headers } }
}
