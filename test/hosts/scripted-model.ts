// A model on loopback that the real hosts talk to: Anthropic's Messages API for Claude Code, OpenAI's Responses API for Codex and
// Copilot CLI, Google's generateContent for Gemini CLI. It plays a script: one step for each model turn.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** `isCut`: it says this much of its answer, and then nothing. */
export type Step = { text: string; isCut?: true } | { call: string; input: Record<string, unknown> } | { patch: string }

/** What a person asked last by a name in double brackets, such as `[[write]]`, and what the calls since then returned. */
export interface Asked {
  name: string | null
  results: readonly string[]
}

/** A script of one step. */
export const once =
  (step: Step) =>
  (results: readonly string[]): Step | undefined =>
    results.length === 0 ? step : undefined

export interface ScriptedModel {
  /** Without a path. */
  url: string
  /** What the host sent as results of the calls, in order, each once. */
  results: string[]
  /** The last request with tools, as JSON: all that the model was told. */
  lastRequest(): string
  /** Names of the tools that the host offered, from its last request that had any. */
  tools: string[]
  close(): Promise<void>
}

/**
 * The number of tool results in a request says which step comes next, so that a repeated request gets the same answer. A step can
 * depend on what the calls before it returned. After the last step the model says "Done.". Requests without tools are the host's own
 * (a title, a summary) and get a short text.
 */
export async function startScriptedModel(
  script: (
    results: readonly string[],
    tools: readonly string[],
    asked: Asked,
  ) => Step | undefined | Promise<Step | undefined>,
): Promise<ScriptedModel> {
  const results: string[] = []
  const tools: string[] = []
  let turns = 0
  let lastRequest = ''

  async function next(body: Body): Promise<Step> {
    const offered = toolNames(body)
    if (offered.length === 0) return { text: 'ok' }
    lastRequest = JSON.stringify(body)
    tools.splice(0, tools.length, ...offered)
    const items = itemsOf(body)
    const given = resultsIn(items)
    results.push(...given.slice(results.length))
    return (await script(given, offered, askedIn(items))) ?? { text: 'Done.' }
  }

  const server = createServer(async (request, response) => {
    const body = await readBody(request)
    const id = `turn-${++turns}`
    const path = (request.url ?? '').split('?')[0] ?? ''
    if (request.method !== 'POST') sendJson(response, { object: 'list', data: [], models: [] })
    else if (path.endsWith('/count_tokens')) sendJson(response, { input_tokens: 100 })
    else if (path.endsWith('/messages')) streamMessage(response, id, await next(body))
    else if (path.endsWith('/responses')) streamResponse(response, id, await next(body), body)
    else if (path.endsWith(':countTokens')) sendJson(response, { totalTokens: 100 })
    else if (path.endsWith(':streamGenerateContent')) {
      const step = await next(body)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(generated(id, step))}\n\n`)
      if (!isCut(step)) response.end()
    } else if (path.endsWith(':generateContent')) sendJson(response, generated(id, await next(body)))
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    results,
    tools,
    lastRequest: () => lastRequest,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

type Body = Record<string, unknown>

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null

const list = (value: unknown): Body[] => (Array.isArray(value) ? value : [])

function toolNames(body: Body): string[] {
  return list(body.tools).flatMap((tool) => {
    // Codex groups the tools of an MCP server in a namespace, Gemini CLI groups all tools without one.
    const inside = [
      ...list(tool.tools).map(({ name }) => `${String(tool.name)}__${String(name)}`),
      ...list(tool.functionDeclarations).map(({ name }) => String(name)),
    ]
    return inside.length > 0 ? inside : [String(tool.name ?? tool.type)]
  })
}

/** What people said and what calls returned, in the order of the conversation. */
interface Item {
  kind: 'said' | 'result'
  text: string
}

function itemsOf(body: Body): Item[] {
  const said = (text: unknown): Item => ({ kind: 'said', text: String(text ?? '') })
  const result = (text: string): Item => ({ kind: 'result', text })
  const isPerson = ({ role }: Body): boolean => role === 'user'
  const fromMessages = list(body.messages)
    .filter(isPerson)
    .flatMap(({ content }) => (typeof content === 'string' ? [said(content)] : list(content).flatMap(fromBlock)))
  const fromItems = list(body.input).flatMap((item) => {
    if (String(item.type).endsWith('call_output')) return [result(textOf(item.output))]
    return isPerson(item) ? [said(textOf(item.content))] : []
  })
  const fromParts = list(body.contents)
    .filter(({ role }) => role !== 'model')
    .flatMap(({ parts }) => list(parts))
    .map(({ functionResponse, text }) =>
      isBody(functionResponse) ? result(JSON.stringify(functionResponse.response)) : said(text),
    )
  return [...fromMessages, ...fromItems, ...fromParts]

  function fromBlock({ type, content, text }: Body): Item[] {
    if (type === 'tool_result') return [result(textOf(content))]
    return type === 'text' ? [said(text)] : []
  }
}

const resultsIn = (items: readonly Item[]): string[] =>
  items.flatMap(({ kind, text }) => (kind === 'result' ? [text] : []))

function askedIn(items: readonly Item[]): Asked {
  const nameIn = ({ kind, text }: Item) =>
    kind === 'said' ? [...text.matchAll(/\[\[(.+?)\]\]/g)].at(-1)?.[1] : undefined
  const at = items.findLastIndex((item) => nameIn(item) !== undefined)
  const item = items[at]
  return { name: (item && nameIn(item)) ?? null, results: resultsIn(items.slice(at + 1)) }
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map(({ text }) => String(text ?? ''))
        .join('')

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as Body
  } catch {
    return {}
  }
}

const sendJson = (response: ServerResponse, body: unknown): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

function streamMessage(response: ServerResponse, id: string, step: Step): void {
  const block =
    'text' in step
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: `toolu_${id}`, name: 'call' in step ? step.call : 'apply_patch', input: {} }
  const delta =
    'text' in step
      ? { type: 'text_delta', text: step.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify('call' in step ? step.input : { patch: step.patch }) }
  const usage = { input_tokens: 10, output_tokens: 10 }
  const message = { id, type: 'message', role: 'assistant', model: 'claude-scripted', content: [], usage }
  const stop = 'text' in step ? 'end_turn' : 'tool_use'
  sendEvents(response, step, [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ])
}

function streamResponse(response: ServerResponse, id: string, step: Step, body: Body): void {
  const item = responseItem(id, step, body)
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 20,
  }
  const whole = { id, object: 'response', created_at: 0, model: 'scripted', output: [item], usage }
  const text = 'text' in step ? step.text : null
  sendEvents(response, step, [
    { type: 'response.created', response: { ...whole, output: [], usage: null, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    ...(text === null
      ? []
      : [
          { type: 'response.content_part.added', item_id: item.id, output_index: 0, content_index: 0, part: part('') },
          { type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: text },
          { type: 'response.output_text.done', item_id: item.id, output_index: 0, content_index: 0, text },
          { type: 'response.content_part.done', item_id: item.id, output_index: 0, content_index: 0, part: part(text) },
        ]),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...whole, status: 'completed' } },
  ])
}

const part = (text: string) => ({ type: 'output_text', text, annotations: [] })

function responseItem(id: string, step: Step, body: Body): Body {
  if ('text' in step) {
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content: [part(step.text)] }
  }
  const names = { id: `fc_${id}`, call_id: `call_${id}`, status: 'completed' }
  if ('patch' in step) return { ...names, type: 'custom_tool_call', name: 'apply_patch', input: step.patch }
  const group = list(body.tools).find(({ name, tools }) =>
    list(tools).some((tool) => `${String(name)}__${String(tool.name)}` === step.call),
  )
  const named =
    group === undefined
      ? { name: step.call }
      : { name: step.call.slice(String(group.name).length + 2), namespace: String(group.name) }
  return { ...names, ...named, type: 'function_call', arguments: JSON.stringify(step.input) }
}

function generated(id: string, step: Step): Body {
  const call = 'call' in step ? { name: step.call, args: step.input } : null
  const part =
    call === null ? { text: 'text' in step ? step.text : '' } : { functionCall: { id: `call_${id}`, ...call } }
  return {
    candidates: [
      { content: { role: 'model', parts: [part] }, ...(isCut(step) ? {} : { finishReason: 'STOP' }), index: 0 },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    modelVersion: 'scripted',
    responseId: id,
  }
}

function sendEvents(response: ServerResponse, step: Step, events: readonly Body[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [index, event] of events.entries()) {
    response.write(`event: ${String(event.type)}\ndata: ${JSON.stringify({ sequence_number: index, ...event })}\n\n`)
    if (isCut(step) && String(event.type).endsWith('delta')) return
  }
  response.end()
}

const isCut = (step: Step): boolean => 'isCut' in step
