// An MCP server over stdio, written by hand, that misbehaves. Its argument names how it misbehaves from the start. Its tools
// misbehave when they are called.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [mode = 'plain'] = process.argv.slice(2)

interface Message {
  id?: number | string
  method?: string
  params?: {
    name?: string
    cursor?: string
    requestId?: number
    inputResponses?: unknown
    requestState?: unknown
    _meta?: Record<string, unknown>
  }
  result?: unknown
  error?: { code: number }
}

const unanswering = ['silent', 'noise', 'endless-line']
const object = { type: 'object' }
const tool = (name: string) => ({ name, description: `The tool ${name} of a fake server.`, inputSchema: object })
let tools: unknown[] = [
  'pid',
  'exit',
  'change',
  'wait',
  'cancelled',
  'ask',
  'progress',
  'big',
  'huge',
  'fail',
  'input',
  'form',
  'freeze',
  'meta',
].map(tool)
let cancelled = 0
let frozen = false
let listings = 0
const waiting = new Map<string, (answer: string) => void>()

const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })

function ask(method: string, params: object): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  waiting.set(method, resolve)
  send({ id: method, method, params })
  return promise
}

const elicitation = (message: string, name: string) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
  },
})

/** Null: send no answer. */
async function call(
  name: string,
  progressToken: unknown,
  { inputResponses, requestState, _meta: meta }: NonNullable<Message['params']>,
): Promise<object | null> {
  switch (name) {
    case 'pid':
      return text(String(process.pid))
    case 'meta':
      return text(JSON.stringify(meta))
    case 'exit':
      process.exit(9)
      break
    case 'change':
      tools = [...tools, { ...tool('added'), description: 'It was not there before.' }]
      send({ method: 'notifications/tools/list_changed' })
      return text('changed')
    case 'wait':
      return null
    case 'freeze':
      setImmediate(() => {
        frozen = true
      })
      return text('no more words')
    case 'cancelled':
      return text(String(cancelled))
    case 'big':
      return text('x'.repeat(2_000_000))
    case 'huge':
      return text('x'.repeat(11_000_000))
    case 'input':
      return { resultType: 'input_required', inputRequests: { who: { method: 'roots/list' } } }
    case 'form':
      if (inputResponses !== undefined) return text(JSON.stringify({ inputResponses, requestState }))
      return {
        resultType: 'input_required',
        inputRequests: { size: elicitation('Which size?', 'size'), note: elicitation('A note?', 'note') },
        requestState: 'kept',
      }
    case 'fail':
      throw { code: -32_602, message: 'the arguments are odd' }
    case 'progress':
      for (let progress = 1; progress <= 1_000; progress += 1) {
        send({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 1_000, message: 'working' },
        })
      }
      return text('done')
    case 'ask': {
      const answers = await Promise.all([
        ask('sampling/createMessage', { messages: [], maxTokens: 1 }),
        ask('elicitation/create', { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } }),
        ask('roots/list', {}),
        ask('ping', {}),
      ])
      return text(answers.join(' '))
    }
  }
  return text(`called ${name}`)
}

async function answerTo({ method, params = {} }: Message): Promise<object | null> {
  switch (method) {
    case 'initialize':
      if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, 500))
      if (mode === 'modern') throw { code: -32_022, message: 'too old', data: { supported: ['2026-07-28'] } }
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fake', version: '1' },
      }
    case 'server/discover':
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }
    case 'tools/list':
      listings += 1
      if (mode === 'list-silent' || (mode === 'lists-once' && listings > 1)) return null
      if (mode === 'restless' && listings === 1) send({ method: 'notifications/tools/list_changed' })
      return page(Number(params.cursor ?? 0))
    case 'tools/call':
      return call(params.name ?? '', params._meta?.progressToken, params)
  }
  throw { code: -32_601, message: `no method ${method}` }
}

function page(from: number): object {
  const nextCursor = String(from + 100)
  switch (mode) {
    case 'many': {
      const some = Array.from({ length: 100 }, (_, i) => tool(`tool_${from + i}`))
      return from < 2_900 ? { tools: some, nextCursor } : { tools: some }
    }
    case 'endless':
      return { tools: [], nextCursor }
    case 'names':
      return {
        tools: [
          { name: 'rm -rf /', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } },
          { name: 'get.sum', description: 'Adds two numbers.', inputSchema: { $schema: 'https://x', ...object } },
          {
            name: 'get-sum',
            description: 'short',
            inputSchema: object,
            outputSchema: { type: 'object', $schema: 'x' },
          },
          { name: 'get.sum', description: 'The same again, for no reason.', inputSchema: object },
          { name: 'no schema at all', description: 'Takes no arguments.', annotations: null },
          { name: 'a list', description: 'Wants an array of arguments.', inputSchema: { type: 'array' } },
          {
            name: 'long',
            description: 'Has a long schema.',
            inputSchema: { ...object, $comment: 'x'.repeat(200_000) },
          },
          { name: 'task', description: 'Runs for days.', inputSchema: object, execution: { taskSupport: 'required' } },
          { description: 'It has no name.', inputSchema: object },
          'not even an object',
        ],
      }
  }
  return { tools }
}

async function receive(message: Message): Promise<void> {
  const { id, method } = message
  if (method === undefined) waiting.get(String(id))?.(message.error === undefined ? 'ok' : String(message.error.code))
  if (method === 'notifications/cancelled') cancelled += 1
  if (frozen || unanswering.includes(mode) || id === undefined || method === undefined) return
  try {
    const result = await answerTo(message)
    const modern = mode === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}
    if (result !== null) send({ id, result: { ...modern, ...result } })
  } catch (error) {
    send({ id, error })
  }
}

if (mode === 'exit') {
  process.stderr.write('no config file\n', () => process.exit(4))
} else {
  if (mode === 'banner') process.stdout.write('Welcome to my server!\n{"jsonrpc": "1.0"}\n[1, 2\n\n')
  if (mode === 'noise') setInterval(() => process.stdout.write('all is well\n'.repeat(500)), 1)
  if (mode === 'endless-line') setInterval(() => process.stdout.write('x'.repeat(1_000_000)), 1)
  if (mode === 'fork') {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    process.stderr.write(`${child.pid}\n`)
  }
  process.stdin.on('error', () => {})
  createInterface({ input: process.stdin })
    .on('line', (line) => void receive(JSON.parse(line)))
    // A well-behaved server ends when its input is closed. The others must be ended.
    .on('close', () => mode !== 'fork' && process.exit(0))
}
