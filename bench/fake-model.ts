// An OpenAI-compatible model that costs almost nothing, so that only the server is measured.
//   node bench/fake-model.ts [--port 9199]
// The last user message, or else the model's name, says how it answers:
//   full           as fast as the socket allows, in separate writes (default)
//   paced:50       50 tokens per second; each token carries the time of its write
//   silent         begins its answer and says nothing more
//   tokens:200     number of tokens (default 200); can follow either of the others

import { STATUS_CODES } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { answerPieces, FIRST_CHUNK, lastChunks, tokenChunk, wholeAnswer } from './chat-chunks.ts'
import { createHttpReader } from './http-reader.ts'
import { listen } from './listen.ts'
import { createTimerWheel } from './timer-wheel.ts'
import { monotonicMicros } from './token.ts'

/** A fast model's answer arrives in a few reads: not all at once, and not one packet per token. */
const WRITES_AT_FULL_SPEED = 16
const MAX_TOKENS = 100_000

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n'
const LAST_HTTP_CHUNK = Buffer.from('0\r\n\r\n')
const MODELS = '{"object":"list","data":[{"id":"fake","object":"model","created":1763164800,"owned_by":"bench"}]}'
const NOT_HERE = errorBody('The fake model answers POST /v1/chat/completions and GET /v1/models.')
const NOT_JSON = errorBody('The body is not a JSON object; send a chat completion request.')

interface AnswerPlan {
  /** Tokens per second; 0: silent; null: full speed. */
  rate: number | null
  tokens: number
}

interface ChatRequest {
  model?: string
  stream?: boolean
  messages?: { role: string; content?: string | { type: string; text?: string }[] | null }[]
}

function errorBody(message: string): string {
  return JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } })
}

export function planOf(request: ChatRequest): AnswerPlan {
  const content = request.messages?.findLast((message) => message.role === 'user')?.content ?? ''
  const said = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join(' ')
  const spec = /\b(full|silent|paced:\d+)\b/.test(said) ? said : (request.model ?? '')
  const rate = /\bpaced:(\d+)\b/.exec(spec)?.[1]
  const tokens = /\btokens:(\d+)\b/.exec(spec)?.[1]
  return {
    rate: /\bsilent\b/.test(spec) ? 0 : rate === undefined ? null : Math.min(Math.max(Number(rate), 1), 1000),
    tokens: tokens === undefined ? 200 : Math.min(Number(tokens), MAX_TOKENS),
  }
}

export function createFakeModel(): Server {
  const wheel = createTimerWheel(
    () => performance.now(),
    (turn) => {
      const timer = setInterval(turn, 1)
      return () => clearInterval(timer)
    },
  )
  const pump = createPump()
  const piecesOf = new Map<number, Buffer[]>()

  function stream(socket: Socket, { rate, tokens }: AnswerPlan): void {
    socket.write(STREAM_HEAD)
    if (rate === null) {
      const pieces = piecesOf.get(tokens) ?? answerPieces(tokens, WRITES_AT_FULL_SPEED).map(httpChunk)
      piecesOf.set(tokens, pieces)
      pump.add(socket, pieces)
      return
    }
    socket.write(httpChunk(FIRST_CHUNK))
    if (rate === 0) return
    let sent = 0
    wheel.every(1000 / rate, () => {
      if (socket.destroyed) return false
      if (sent < tokens) {
        const chunk = tokenChunk(sent, monotonicMicros())
        socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`, 'latin1')
        sent += 1
        return true
      }
      socket.write(httpChunk(lastChunks(tokens)))
      socket.write(LAST_HTTP_CHUNK)
      return false
    })
  }

  return createServer({ noDelay: true }, (socket) => {
    let head = ''
    let body = ''
    const reader = createHttpReader(
      {
        head(text) {
          head = text
          body = ''
        },
        body(text) {
          body += text
        },
        end() {
          if (/^GET \S*\/models /.test(head)) return respond(socket, 200, MODELS)
          if (!/^POST \S*\/chat\/completions /.test(head)) return respond(socket, 404, NOT_HERE)
          const request = parse(body)
          if (request === null) return respond(socket, 400, NOT_JSON)
          const plan = planOf(request)
          if (request.stream === true) stream(socket, plan)
          else respond(socket, 200, wholeAnswer(plan.tokens))
        },
      },
      true,
    )
    socket.on('data', (bytes) => {
      try {
        reader.feed(bytes)
      } catch {
        socket.destroy()
      }
    })
    // A client may leave in the middle of an answer.
    socket.on('error', () => socket.destroy())
  })
}

/** Writes one piece of every waiting answer per turn of the event loop, so that the pieces are separate writes. */
function createPump(): { add(socket: Socket, pieces: readonly Buffer[]): void } {
  let streams: { socket: Socket; pieces: readonly Buffer[]; next: number }[] = []
  function turn(): void {
    streams = streams.filter((stream) => {
      const piece = stream.pieces[stream.next]
      stream.next += 1
      stream.socket.write(piece ?? LAST_HTTP_CHUNK)
      return piece !== undefined && !stream.socket.destroyed
    })
    if (streams.length > 0) setImmediate(turn)
  }
  return {
    add(socket, pieces) {
      streams.push({ socket, pieces, next: 0 })
      if (streams.length === 1) setImmediate(turn)
    },
  }
}

function httpChunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

function respond(socket: Socket, status: number, json: string): void {
  const reason = STATUS_CODES[status] ?? ''
  socket.write(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  )
}

function parse(body: string): ChatRequest | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '9199' } } })
  process.stdout.write(`${JSON.stringify({ port: await listen(createFakeModel(), Number(values.port)) })}\n`)
}
