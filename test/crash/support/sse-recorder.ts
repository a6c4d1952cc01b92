// A reader of server-sent events that keeps every frame as it was sent, and knows whether the stream ended or broke.

import { request } from 'node:http'

export interface Frame {
  /** As in the `id:` line; null where there was none. */
  id: string | null
  /** As in the `data:` line. */
  data: string
}

export interface Recording {
  /** Null until the head of the answer has come. */
  status: number | null
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Complete frames only: what broke off half-way was not seen. */
  frames: Frame[]
  /** The body of an answer that is not a stream. */
  body: string
  /** True when the answer came to its end, false when the connection broke. */
  complete: boolean
}

export interface RecordOptions {
  url: string
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON, unless it is bytes: they are sent as they are, with whatever Content-Type the headers name. */
  body?: unknown
  onFrame?: (frame: Frame) => void
  /** Reads nothing of the answer's body before this resolves. */
  hold?: Promise<void>
}

export interface Recorder {
  readonly recording: Recording
  /** Resolves when the stream has ended or broken; rejects when it holds what no stream of ours may hold. */
  readonly done: Promise<Recording>
  close(): void
}

export function record({ url, method = 'GET', headers = {}, body, onFrame, hold }: RecordOptions): Recorder {
  const recording: Recording = { status: null, headers: {}, frames: [], body: '', complete: false }
  const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  const length = bytes === undefined ? {} : { 'Content-Length': String(bytes.length) }
  const type = bytes === undefined || bytes === body ? {} : { 'Content-Type': 'application/json' }
  const { promise: done, resolve, reject } = Promise.withResolvers<Recording>()

  const call = request(url, { method, headers: { ...type, ...length, ...headers }, agent: false }, (response) => {
    recording.status = response.statusCode ?? null
    recording.headers = response.headers
    const isStream = response.headers['content-type'] === 'text/event-stream'
    let rest = ''
    response.setEncoding('utf8')
    const read = (chunk: string) => {
      if (!isStream) {
        recording.body += chunk
        return
      }
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      try {
        for (const frame of blocks.map(frameOf)) {
          if (frame === null) continue
          recording.frames.push(frame)
          onFrame?.(frame)
        }
      } catch (error) {
        reject(error)
        call.destroy()
      }
    }
    if (hold === undefined) response.on('data', read)
    else void hold.then(() => response.on('data', read))
    response.on('close', () => {
      recording.complete = response.complete && rest === ''
      resolve(recording)
    })
    response.on('error', () => {})
  })
  call.on('error', () => resolve(recording))
  call.end(bytes)
  return { recording, done, close: () => call.destroy() }
}

/** Null for a comment. Throws for what no stream of ours may hold. */
function frameOf(block: string): Frame | null {
  let id: string | null = null
  let data: string | null = null
  for (const line of block.split('\n')) {
    if (line.includes('\r')) throw new Error(`a line of the stream ends with CR: ${JSON.stringify(line)}`)
    if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('data: ') && data === null) data = line.slice(6)
    else if (!line.startsWith(':')) throw new Error(`the stream holds an unexpected line: ${JSON.stringify(line)}`)
  }
  return data === null ? null : { id, data }
}

export const isTerminal = ({ data }: Frame): boolean => /^\{"type":"RUN_(?:FINISHED|ERROR)"/.test(data)
