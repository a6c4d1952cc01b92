import type { IncomingMessage, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { ErrorCode } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import type { Scope } from '../domain/supervision/token-role.ts'
import type { Door } from '../doors.ts'
import type { LongBodyLimits } from './body/long-json.ts'
import type { MultipartLimits, MultipartPart } from './body/multipart.ts'
import type { ErrorShape } from './problem.ts'

export type { Door }

/**
 * `public` needs no credential, `user` may talk, `operator` may decide and see everything. `agent` is a supervised agent, which may
 * only report and ask: its tokens work on its own routes and nowhere else, and nobody else's token works there.
 */
export type Role = 'public' | 'user' | 'operator' | 'agent'

/**
 * What kind of body a route reads. It decides how large the body may be. `none`: the body is not read. `control`: a decision or a
 * stop. `edit`: a decision that may bring an edited file of 5 MB. `message`: text that people write, without files. `files`: a conversation with files (they have their own limits), or a form.
 */
export type BodyClass = 'none' | 'control' | 'edit' | 'message' | 'files'

/** Largest body in bytes. The other classes use `limits.body_bytes`, and with `files` the files themselves do not count. */
export const bodyClassBytes: Readonly<Partial<Record<BodyClass, number>>> = {
  control: 64 * 1024,
  edit: 12_000_000,
  message: 1_000_000,
}

/** One row of the route table. Auth, 404, 405, 413, closed doors and OpenAPI are all derived from it. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** For example `/runs/:id/events`. A `:name` matches one segment, a `*name` at the end all that follow, also none. */
  path: string
  /** Null: always open. */
  door: Door | null
  role: Role
  body: BodyClass
  summary: string
  /** Where no token is needed, any key will do: clients that cannot leave it out send one that we do not know. */
  takesAnyKey?: true
  /**
   * For callers without a credential: the owner named by a signature in the URL, or null if it has none. Throws `forbidden`
   * for an invalid signature. Only for routes that read.
   */
  signedOwner?(asked: { params: Readonly<Record<string, string>>; query: URLSearchParams }): Promise<string | null>
  /** Describes the route for OpenAPI. Called when somebody asks for the document, so that a start builds no schema for it. */
  describe?: () => RouteDescription
  /** The route also answers while the server starts and stops, as health and metrics do. */
  anytime?: boolean
  /** Refuses what `handle` would refuse anyway, before the operator is asked for a passphrase. Changes nothing. */
  check?(request: Request): Promise<void>
  /** What it throws is answered as a problem. A stream that is still open when it resolves is ended. */
  handle(request: Request, reply: Reply): Promise<void>
}

/**
 * Routes that are loaded by the first request for a path that begins with one of these segments: most servers are asked at one door, and
 * a start should not wait for the others. `agents/`: other groups have paths there too. A path that no group names loads those
 * without segments, and if they do not have it, all.
 */
export interface RouteGroup {
  segments: readonly string[]
  /** The same routes every time. */
  load(): Promise<readonly Route[]>
}

/**
 * What a route accepts and answers, in the same schemas that validate it. OpenAPI is generated from it. A description names only
 * what its route adds. The generator adds what all routes share: correlation ids, 401, 403, 404 for a closed door, 421, 500, 503.
 */
export interface RouteDescription {
  /** Groups the routes in the document. */
  tag: string
  description?: string
  params?: Readonly<Record<string, z.ZodType>>
  query?: Readonly<Record<string, z.ZodType>>
  headers?: Readonly<Record<string, z.ZodType>>
  /** The JSON body. */
  body?: BodyDescription
  /** The `multipart/form-data` body. A route that accepts both has `body` too. The schema has the parts by their names. Files are `z.file()`. */
  form?: Pick<BodyDescription, 'schema'>
  responses: Readonly<Record<number, ResponseDescription>>
  /** Errors that this route can answer with, besides those that all routes share. */
  errors: readonly ErrorCode[]
}

export interface BodyDescription {
  schema: z.ZodType
  /** Keyed by name. Each one must match the schema. */
  examples: Readonly<Record<string, unknown>>
}

export interface ResponseDescription {
  description: string
  /** Keyed by media type. For `text/event-stream` the schema describes one `data:` payload, and `events` names the `event:` lines, if any. */
  content?: Readonly<
    Record<string, { schema: z.ZodType; example?: unknown; events?: Readonly<Record<string, z.ZodType>> }>
  >
  headers?: Readonly<Record<string, string>>
}

/** The way a request came: over the network, or through the local socket, which only processes of this OS user can open. */
export type Via = 'http' | 'ctl'

export interface Request {
  readonly raw: IncomingMessage
  readonly via: Via
  readonly method: string
  /** The path without the query. It is not percent-decoded; `params` are. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The caller. `owner` is the user that the token names, or `local_user`. */
  readonly principal: Principal
  readonly correlationId: string
  readonly log: Logger
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  /** The value of a header, or undefined. Node joins the values of a header that comes more than once. */
  header(name: string): string | undefined
  /**
   * Reads the body as JSON and checks the limits while it arrives. Throws `malformed_json`, `unsupported_media_type`,
   * `body_too_large`, `request_timeout`. With `long`, a body with a Content-Length may be larger: long base64 strings in it become
   * `LongText`s, and it also throws what `readLongJson` throws. A body of the class `control` or `edit` with a key twice is malformed,
   * and so is another one if `hasKeysOnce` says so.
   */
  json(options?: { long?: LongBodyLimits; hasKeysOnce?: (body: unknown) => boolean }): Promise<unknown>
  /** Closes the temporary file behind the `LongText`s of the body. Happens anyway when the handler is done. */
  releaseBody(): void
  /**
   * Reads the body as a form with files, part by part as it arrives. Can be read once. While reading it throws
   * `unsupported_media_type`, `invalid_request`, `too_many_files`, `file_too_large`, `body_too_large`, `request_timeout`.
   */
  multipart(limits?: Partial<MultipartLimits>): AsyncIterable<MultipartPart>
}

export interface Principal {
  owner: string
  /** `public` occurs only on public routes: the caller has no valid credential, although other routes need one. */
  role: Role
  /** False: the caller did not prove who they are. They may talk on this machine, but decide nothing. */
  hasToken: boolean
  /** Id of the token, for the audit trail. A token of the settings has none. */
  tokenId?: string | undefined
  /** A browser that is signed in to the console sent it. `tokenId` is its device, unless a proxy has signed it in. */
  isConsole?: true | undefined
  /** The header X-Passkey. Nobody has checked it yet. */
  proof?: string
  /** Who named the caller, if it was not a token of this server. */
  source?: 'oidc' | 'proxy'
  /** What `source` says about them. */
  groups?: readonly string[]
  isAdmin?: true | undefined
  email?: string | undefined
  /** What the token is limited to; undefined: everything that the role may do. */
  scopes?: readonly Scope[] | undefined
  /** The only agent that the token may talk to. */
  agent?: string | undefined
  /** When the token ends, in epoch ms; undefined: never. */
  expiresAt?: number | undefined
}

/** The console shows a person what it gets, so it gets no secrets, and must say what it showed. */
export const isConsole = ({ principal }: Pick<Request, 'principal'>): boolean => principal.isConsole === true

/** The caller of a route with the role `agent`. */
export interface AgentPrincipal extends Principal {
  /** The operator for whom the token was made. */
  owner: string
  role: 'agent'
  hasToken: true
  tokenId: string
  /** Real path of the folder that the token is bound to. */
  workspace: string
  channel?: string | undefined
}

export function agentOf({ principal }: Pick<Request, 'principal'>): AgentPrincipal {
  if (isAgent(principal)) return principal
  throw new Error('only a route with the role agent has an agent')
}

const isAgent = (principal: Principal): principal is AgentPrincipal => principal.role === 'agent'

export interface Reply {
  readonly raw: ServerResponse
  /** Adds fields (session_id, run_id) to all later log lines of this request. */
  note(fields: Record<string, string>): void
  json(status: number, body: unknown, headers?: Record<string, string>): void
  /** Like `json`, but a large body is sent in pieces, item by item, as fast as the reader reads. */
  jsonPieces(status: number, body: object, headers?: Record<string, string>): Promise<void>
  /**
   * Waits until the memory shared by all large answers has space for this one. Call the returned function to give it back; it
   * is given back in any case when the answer has been sent or the reader has gone. The code after it runs in its own turn of the
   * event loop, without other large answers. Throws `ClientGone`.
   */
  reserve(bytes: number): Promise<() => void>
  text(status: number, body: string, contentType: string, headers?: Record<string, string>): void
  bytes(status: number, body: Uint8Array, contentType: string, headers?: Record<string, string>): void
  empty(status: number, headers?: Record<string, string>): void
  /** Answers with a problem, as throwing does, but in the door's own error format. */
  fail(error: unknown, shape?: ErrorShape): void
  /**
   * Counts this request as a stream. Throws `rate_limited` when the caller has too many. A route that starts work for a stream calls it
   * first, so that a refused request starts nothing; opening a stream does it too.
   */
  claimStream(): void
  /** Opens a stream of server-sent events. Status, headers and a first comment are sent at once. */
  sse(headers?: Record<string, string>): ByteStream
  /** Opens a binary stream. */
  stream(contentType: string, headers?: Record<string, string>): ByteStream
}

/** A bounded stream to one reader. */
export interface ByteStream {
  /**
   * Returns undefined when the kernel took the chunk. Otherwise wait for the promise before the next write. It rejects with
   * `ClientGone` when the reader has gone. A reader that makes no progress for 30 s, or is sent more than 256 KiB without waiting,
   * is dropped.
   */
  write(chunk: string | Uint8Array): Promise<void> | undefined
  end(): void
  /** Cuts the connection. A pending `write` rejects. */
  drop(): void
}
