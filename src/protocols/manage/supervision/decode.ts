import type { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { parseUuid } from '../../../domain/ids.ts'
import type { Request } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { decodePage, parsePlace, queryProblem, sessionIn, wordIn } from '../../shared/request/page.ts'
import { validBody } from '../../shared/request/validate.ts'
import { WaitAnswerSchema } from './schema.ts'

/** Throws `invalid_request`. A request without a body counts as one with `{}`. */
export async function decodeBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const length = Number(request.header('content-length') ?? 0)
  const hasBody = length > 0 || request.header('transfer-encoding') !== undefined
  return validBody(schema, hasBody ? await request.json() : {}, 'The body is not valid here.')
}

/** Null: the agent just goes on. */
export async function decodeWaitAnswer(request: Request): Promise<string | null> {
  const { instruction, stop } = await decodeBody(request, WaitAnswerSchema)
  if (stop === undefined) return instruction ?? null
  if (instruction === undefined) return 'stop'
  throw new ServerError('invalid_request', 'The body is not valid here.', {
    problems: [{ pointer: '/stop', detail: 'Send an instruction or stop, not both.' }],
  })
}

/** The id of a supervised session or of a record in the path. Throws `malformed_id`. */
export function idIn({ params: { id = '' } }: Pick<Request, 'params'>): string {
  const uuid = parseUuid(id)
  if (uuid !== null) return uuid
  throw new ServerError('malformed_id', `${JSON.stringify(id.slice(0, 128))} is not an id. Send a UUID or a ULID.`)
}

/** `?status=`: one status, `waiting` for what still wants something of a person (the default), or `all`. */
export function decodeStatus<Status extends string>(
  { query }: Pick<Request, 'query'>,
  statuses: readonly Status[],
): Status | 'waiting' | 'all' {
  const detail = `Send waiting, all or one of ${statuses.join(', ')}.`
  return wordIn(query, 'status', ['waiting', 'all', ...statuses], detail) ?? 'waiting'
}

/** `?session=`. */
export const decodeSession = ({ query }: Pick<Request, 'query'>): string | undefined =>
  sessionIn(query, 'Send the id of a supervised session: a UUID or a ULID.')

const PAGE = { max: 100, fallback: 50 }

/** What the lists here take of a request. The audit trail says who lists what belongs to others. */
export async function decodeList(request: Request, oversight: Pick<Oversight, 'listing'>) {
  const viewer = viewerOf(request)
  const { limit, before } = decodePage(request, PAGE)
  const [owner, sessionId] = [decodeOwner(request), decodeSession(request)]
  const isOwn = owner === viewer.owner || (owner === undefined && viewer.by.role !== 'operator')
  if (!isOwn) await oversight.listing(viewer, owner ?? '*')
  return { by: viewer.by, limit, owner, sessionId, before: before === undefined ? undefined : parsePlace(before) }
}

/** `?owner=`. */
export function decodeOwner({ query }: Pick<Request, 'query'>): string | undefined {
  const text = query.get('owner')
  if (text === null) return undefined
  if (text !== '' && text.length <= 128) return text
  throw queryProblem({ pointer: 'owner', detail: 'Send the name of an owner.' })
}
