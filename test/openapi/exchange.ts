// One request, its answer, and how they compare with the document.

import { type Api, isJson, type Json } from './api.ts'
import { problemsOf } from './problems-of.ts'
import { type Asked, FIRST_THREAD } from './request-of.ts'

/** Ids from earlier answers, so that requests get further than "not found". */
export interface KnownIds {
  /** An id that fits the parameter of that name in that path. */
  named(path: string, name: string, index: number): string
  learn(body: unknown): void
}

const MOST_IDS = 200

export function createKnownIds(agent: string): KnownIds {
  const agents = [agent, 'default']
  const sessions = [FIRST_THREAD]
  const runs: string[] = []
  const approvals: string[] = []
  const grants: string[] = []
  const keys = new Map([
    ['approval_id', approvals],
    ['grant_id', grants],
    ['continuation_run_id', runs],
    ['session_id', sessions],
    ['thread_id', sessions],
    ['threadId', sessions],
    ['run_id', runs],
    ['runId', runs],
  ])
  const poolOf = (path: string, name: string) => {
    if (name === 'name' || path.startsWith('/v1/models')) return agents
    if (path.startsWith('/approvals')) return approvals
    if (path.startsWith('/grants')) return grants
    return path.startsWith('/runs') ? runs : sessions
  }
  return {
    named(path, name, index) {
      const pool = poolOf(path, name)
      return pool[index % pool.length] ?? agent
    },
    learn(body) {
      // A list has its items under its name.
      if (isJson(body))
        for (const list of [body.approvals, body.grants]) if (Array.isArray(list)) list.forEach(this.learn)
      for (const [key, pool] of keys) {
        const id = isJson(body) ? body[key] : undefined
        // A URL removes dots.
        if (typeof id !== 'string' || /^\.*$/.test(id) || !id.isWellFormed() || pool.includes(id)) continue
        if (pool.push(id) > MOST_IDS) pool.shift()
      }
    },
  }
}

/** A stream that does not end is left after this silence. */
const SILENCE_MS = 30
const STREAM_LIMIT_MS = 15_000
const ENDLESS = new Set(['getSessionsIdEvents', 'getEvents', 'getInboxEvents'])

/** What is wrong with the answer. */
export async function exchange(url: string, asked: Asked, api: Api, known: KnownIds): Promise<string[]> {
  const { query, headers, body } = asked
  const operation = api.operations.find(({ id }) => id === asked.operationId)
  if (operation === undefined) throw new Error(`there is no operation ${asked.operationId}`)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = asked.path[name]
    return encodeURIComponent(
      value === undefined ? 'x' : 'text' in value ? value.text : known.named(operation.path, name, value.known),
    )
  })
  const search = new URLSearchParams(query).toString()
  const abort = new AbortController()
  const response = await fetch(`${url}${path}${search === '' ? '' : `?${search}`}`, {
    method: operation.method,
    headers,
    ...(body === null ? {} : { body }),
    signal: abort.signal,
  })
  const { status } = response
  const type = baseType(response.headers.get('content-type') ?? '')
  const text = await readAll(response, status === 200 && ENDLESS.has(operation.id), abort)
  const where = `${operation.method} ${path} → ${status} ${type}: ${text.slice(0, 300)}`
  if (status >= 500 && status !== 501) return [`${where}: the server failed`]
  const described = operation.responses.get(status)
  if (described === undefined) return [`${where}: the status is not documented`]
  const media = Object.entries(described.content ?? {}).find(([one]) => baseType(one) === type)?.[1]
  if (text === '' && described.content === undefined) return []
  if (media === undefined) return [`${where}: the media type is not documented`]
  if (type === 'text/event-stream')
    return streamProblems(text, media.schema ?? {}, api, known, !ENDLESS.has(operation.id)).map(
      (one) => `${where}: ${one}`,
    )
  if (!type.endsWith('json')) return []
  const value: unknown = JSON.parse(text)
  known.learn(value)
  return problemsOf(value, media.schema ?? {}, api.resolve).map((one) => `${where}: ${one}`)
}

const baseType = (type: string): string => type.split(';', 1)[0]?.trim().toLowerCase() ?? ''

async function readAll(response: Response, isEndless: boolean, abort: AbortController): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(() => late.resolve(null), isEndless ? SILENCE_MS : STREAM_LIMIT_MS)
    const next = await Promise.race([reader.read(), late.promise]).finally(() => clearTimeout(timer))
    if (next === null) {
      await reader.cancel()
      abort.abort()
      if (!isEndless) throw new Error(`the answer did not end: ${text.slice(0, 300)}`)
      return text
    }
    if (next.done) return text
    text += next.value
  }
}

interface Frame {
  event: string | null
  data: string
}

const framesOf = (text: string): Frame[] =>
  text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n')
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const data = field('data')
    return data === undefined ? [] : [{ event: field('event') ?? null, data }]
  })

function streamProblems(text: string, schema: Json, api: Api, known: KnownIds, ends: boolean): string[] {
  const frames = framesOf(text)
  const events = isJson(schema['x-events']) ? schema['x-events'] : {}
  const problems = frames.flatMap(({ event, data }) => {
    const value: unknown = data.startsWith('{') ? JSON.parse(data) : data
    known.learn(value)
    const own = event === null ? undefined : events[event]
    if (event !== null && own === undefined) return [`the event ${event} is not documented`]
    return problemsOf(value, isJson(own) ? own : isJson(schema.contentSchema) ? schema.contentSchema : {}, api.resolve)
  })
  const last = frames.at(-1)
  const isTerminal = last !== undefined && (last.data === '[DONE]' || TERMINAL.has(wordOf(last)))
  return ends && !isTerminal ? [...problems, `the stream ends with ${last?.data ?? 'nothing'}`] : problems
}

const TERMINAL = new Set([
  ...['RUN_FINISHED', 'RUN_ERROR', 'stream_end', 'message_complete', 'error'],
  ...['response.completed', 'response.incomplete', 'response.failed'],
])

/** The name of an event in each protocol. */
function wordOf({ event, data }: Frame): string {
  const value: unknown = data.startsWith('{') ? JSON.parse(data) : null
  if (event !== null || !isJson(value)) return event ?? ''
  return String(value.type ?? value.event ?? ('error' in value ? 'error' : ''))
}
