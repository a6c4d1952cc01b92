import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../domain/logger.ts'
import type { LongBodyLimits } from './body/long-json.ts'
import type { MultipartLimits, MultipartPart } from './body/multipart.ts'
import type { ErrorShape } from './problem.ts'
import type { RouteDescription } from './route-description.ts'

/** A door is a family of routes that can be closed by the setting `protocols`. */
export type Door = 'ag-ui' | 'rest' | 'threads' | 'openai' | 'mcp'

/** `public` needs no credential at all, `user` may talk, `operator` may decide and look at everything. */
export type Role = 'public' | 'user' | 'operator'

/**
 * What a route takes as its body, and so how large it may be. `none`: it is not read. `control`: a decision, a stop. `message`: what
 * people write, without files. `files`: a conversation with its files, which have limits of their own, or a form.
 */
export type BodyClass = 'none' | 'control' | 'message' | 'files'

/** Bytes of a body. All others have `limits.body_bytes`: with `files`, of what the body is without them. */
export const bodyClassBytes: Readonly<Partial<Record<BodyClass, number>>> = { control: 64 * 1024, message: 1_000_000 }

/** One row of the route table. The table is data: auth, 404, 405, 413, closed doors and OpenAPI are all read from it. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE'
  /** `/runs/:id/events`; a `:name` takes one segment. */
  path: string
  /** Null: open whatever doors are. */
  door: Door | null
  role: Role
  body: BodyClass
  summary: string
  /**
   * The owner that the address itself names by a signature, for callers who send no credential; null: it names none, and the
   * credential is asked for. Throws `forbidden` for a signature that does not hold. Only for what is read.
   */
  signedOwner?(asked: { params: Readonly<Record<string, string>>; query: URLSearchParams }): string | null
  /** For OpenAPI. */
  describe?: RouteDescription
  /** Answers also before the server is ready and while it stops: health and metrics. */
  anytime?: boolean
  /** What it throws is answered as a problem; a stream that is still open when it resolves is ended. */
  handle(request: Request, reply: Reply): Promise<void>
}

export interface Request {
  readonly raw: IncomingMessage
  readonly method: string
  /** The path without the query, percent-decoded per segment only in `params`. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The caller; `owner` is the user its token names, or `local_user`. */
  readonly principal: Principal
  readonly correlationId: string
  readonly log: Logger
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  /** A header's value, or undefined; several values of one header are joined by node. */
  header(name: string): string | undefined
  /**
   * The body as JSON, held to the limits while it is read. Throws `malformed_json`, `unsupported_media_type`, `body_too_large`,
   * `request_timeout`. With `long` it may be larger where its length is announced: then texts in it that are long and read like
   * base64 are `LongText`s, and it throws what `readLongJson` throws.
   */
  json(options?: { long?: LongBodyLimits }): Promise<unknown>
  /** The `LongText`s of the body will not be read any more. Done anyway when the handler is. */
  releaseBody(): void
  /**
   * The body as a form with files, part by part as it arrives; to be read once. Throws `unsupported_media_type`,
   * `invalid_request`, `too_many_files`, `file_too_large`, `body_too_large`, `request_timeout` while it is read.
   */
  multipart(limits?: Partial<MultipartLimits>): AsyncIterable<MultipartPart>
}

export interface Principal {
  owner: string
  /** `public` occurs on public routes only: nobody has shown a credential although one is asked for elsewhere. */
  role: Role
  /** False: nobody has shown who they are. They may talk on this machine, and their word decides nothing. */
  hasToken: boolean
}

export interface Reply {
  readonly raw: ServerResponse
  /** Fields for the request's lines in the log (session_id, run_id), from here on. */
  note(fields: Record<string, string>): void
  json(status: number, body: unknown, headers?: Record<string, string>): void
  /** As `json`, but the items of its lists become text one by one, at the reader's pace, where they are many or large. */
  jsonPieces(status: number, body: object, headers?: Record<string, string>): Promise<void>
  /**
   * Waits until there is room for what this answer holds in memory, among all large answers of the server. It is given back by
   * the returned function, and at the latest when the answer has left or its reader has gone. What follows runs in a turn of the
   * loop that no other large answer has. Throws `ClientGone`.
   */
  makeRoom(bytes: number): Promise<() => void>
  text(status: number, body: string, contentType: string, headers?: Record<string, string>): void
  empty(status: number, headers?: Record<string, string>): void
  /** Answers with a problem, as throwing does, but in a shape of the door's own. */
  fail(error: unknown, shape?: ErrorShape): void
  /** Opens a stream of server-sent events: status, headers and a first comment leave at once. */
  sse(headers?: Record<string, string>): ByteStream
  /** Opens a binary stream. */
  stream(contentType: string, headers?: Record<string, string>): ByteStream
}

/** A bounded stream to one reader. */
export interface ByteStream {
  /**
   * Undefined: the kernel took it, go on. A promise: wait for it before the next write. It rejects with `ClientGone` when
   * the reader has gone, made no progress for 30 s, or was sent more than 256 KiB without waiting; it is then dropped.
   */
  write(chunk: string | Uint8Array): Promise<void> | undefined
  end(): void
  /** Cuts the connection, and what waits for `write` rejects. */
  drop(): void
}
