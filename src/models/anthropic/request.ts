// ModelRequest → Anthropic's messages. Pure.

import type { ModelSettings } from '../../domain/agent/agent.ts'
import { isOpenObject } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { ModelAttachment, ModelMessage, ModelRequest, ModelTool } from '../model.ts'
import { baseUrl, withPath } from '../wire/base-url.ts'
import { type JsonObject, parseObject } from '../wire/json.ts'
import { mergedMessages } from '../wire/merged-messages.ts'
import type { ProviderApi } from '../wire/wire-model.ts'
import { thinkingBlocks } from './thinking.ts'

const ANTHROPIC_URL = 'https://api.anthropic.com'

/** The API requires a limit. This one applies when the settings have none. */
const STANDARD_MAX_TOKENS = 8192

export function anthropicApi(settings: ModelSettings): ProviderApi {
  const root = apiRoot(settings)
  const url = withPath(root, '/messages')
  const headers = headersOf(settings)
  return {
    host: root.host,
    keyVariable: 'ANTHROPIC_API_KEY',
    request: (request) => ({ url, headers, body: body(request, settings) }),
    probe: { url: withPath(root, `/models/${encodeURIComponent(settings.name)}`), headers },
    // Gateways in front of Anthropic rarely have this route.
    probeNamesModel: settings.baseUrl === undefined,
  }
}

/** Accepts a base URL with and without `/v1`. */
function apiRoot(settings: ModelSettings): URL {
  const root = baseUrl(settings, ANTHROPIC_URL)
  const path = root.pathname.replace(/\/messages\/?$/, '').replace(/\/+$/, '')
  root.pathname = path.endsWith('/v1') ? path : `${path}/v1`
  return root
}

function headersOf({ apiKey }: ModelSettings): Record<string, string> {
  const version = { 'anthropic-version': '2023-06-01' }
  return apiKey === undefined || apiKey === 'none' ? version : { ...version, 'x-api-key': apiKey }
}

function body(request: ModelRequest, settings: ModelSettings): JsonObject {
  const { effort, budgetTokens } = settings.reasoning ?? {}
  const body: JsonObject = {
    model: settings.name,
    // The limit includes the thinking budget, so the budget is added to what the answer needs.
    max_tokens: settings.maxTokens ?? STANDARD_MAX_TOKENS + (budgetTokens ?? 0),
    messages: wireMessages(request),
    stream: true,
    metadata: { user_id: request.sessionId },
  }
  const format = request.responseFormat
  // The API closes every object, so any object can only be asked for in words.
  const inWords = format !== null && isOpenObject(format) ? [ANY_OBJECT] : []
  const system = [request.system, ...inWords].filter((text) => text !== '').join('\n\n')
  if (system !== '') body.system = [{ type: 'text', text: system, ...MARK }]
  const tools = request.tools.length > 0 ? request.tools : toolsOfHistory(request.messages)
  if (tools.length > 0) {
    body.tools = tools.map(({ name, description, parameters }, index) => ({
      name,
      description,
      input_schema: parameters,
      ...(index === tools.length - 1 ? MARK : {}),
    }))
    if (request.tools.length === 0) body.tool_choice = { type: 'none' }
  }
  if (settings.temperature !== undefined) body.temperature = settings.temperature
  if (settings.topP !== undefined) body.top_p = settings.topP
  // Older models take a thinking budget, newer ones an effort. The API says so when a model does not take the one that is set.
  if (budgetTokens !== undefined) body.thinking = { type: 'enabled', budget_tokens: budgetTokens }
  else if (effort !== undefined) body.thinking = { type: 'adaptive' }
  const output: JsonObject = {}
  if (effort !== undefined) output.effort = effort
  if (format !== null && inWords.length === 0) {
    output.format = { type: 'json_schema', schema: outputSchema(format) }
  }
  if (Object.keys(output).length > 0) body.output_config = output
  return body
}

const ANY_OBJECT = 'Give your final answer as one JSON object alone: no other words, no code fence.'

/** The API refuses a history with calls when no tools are defined, e.g. because their MCP server cannot be reached. */
function toolsOfHistory(messages: readonly ModelMessage[]): ModelTool[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
  return [...new Set(calls.map(({ name }) => name))].map((name) => ({
    name,
    description: 'Not available now.',
    parameters: { type: 'object' },
  }))
}

/**
 * The provider keeps what stands before a mark, and reads it again at a tenth of the price. It takes four: one after the tools, one
 * after the instructions, and two for the newest turns. The next request finds the newer of those two as its older one.
 */
const MARK = { cache_control: { type: 'ephemeral' } } as const
const MARKED_TURNS = 2

/** Roles must alternate, so the results of one step, and a user's message after them, form one message. */
function wireMessages({ messages, aside }: ModelRequest): JsonObject[] {
  const merged = mergedMessages(messages, ({ role }) => (role === 'assistant' ? 'assistant' : 'user'), blocksOf)
  const turns = merged.filter(({ role }) => role === 'user').slice(-MARKED_TURNS)
  for (const { parts } of turns) Object.assign(parts.at(-1) ?? {}, MARK)
  if (aside !== '') {
    const last = merged.at(-1)
    if (last?.role === 'user') last.parts.push(...textBlocks(aside))
    else merged.push({ role: 'user', parts: textBlocks(aside) })
  }
  return merged.map(({ role, parts }) => ({ role, content: parts }))
}

function blocksOf(message: ModelMessage): JsonObject[] {
  switch (message.role) {
    case 'user':
      // Files first: the model answers better when the question comes after them.
      return [...(message.attachments ?? []).map(attachmentBlock), ...textBlocks(message.content)]
    case 'tool':
      return [
        {
          type: 'tool_result',
          tool_use_id: callId(message.toolCallId),
          content: message.content,
          ...(message.isError ? { is_error: true } : {}),
        },
      ]
    case 'assistant':
      return [
        ...thinkingBlocks(message.reasoning),
        ...textBlocks(message.content),
        ...message.toolCalls.map((call) => ({
          type: 'tool_use',
          id: callId(call.id),
          name: call.name,
          // The model may have written invalid JSON, but the API accepts only objects. The tool's result says what was wrong.
          input: parseObject(call.arguments) ?? { invalid_json: call.arguments },
        })),
      ]
  }
}

function attachmentBlock({ type, mimeType, data, name }: ModelAttachment): JsonObject {
  const source = { type: 'base64', media_type: mimeType, data }
  return type === 'image' ? { type, source } : { type, source, title: name }
}

const textBlocks = (text: string): JsonObject[] => (text.trim() === '' ? [] : [{ type: 'text', text }])

/** Ids of other providers may have characters that this API refuses. */
const callId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_')

/** Keywords that the API refuses in an output schema. They go into the description instead. */
const IN_WORDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
]
const KEPT = ['$ref', 'type', 'enum', 'const', 'title', 'default', 'required']
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']

/**
 * Reduces a JSON Schema to what `output_config.format` accepts: closed objects, `anyOf` for `oneOf`, no bounds. The result never
 * allows less than the original. The answer is still checked against the original.
 */
function outputSchema(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const reduced: JsonObject = {}
  for (const key of KEPT) if (schema[key] !== undefined) reduced[key] = schema[key]
  const words = IN_WORDS.filter((key) => schema[key] !== undefined && schema[key] !== false).map(
    (key) => `${key}: ${JSON.stringify(schema[key])}`,
  )
  const { format } = schema
  if (typeof format === 'string') {
    if (FORMATS.includes(format)) reduced.format = format
    else words.push(`format: ${format}`)
  }
  const description = [schema.description, words.join(', ')].filter((text) => typeof text === 'string' && text !== '')
  if (description.length > 0) reduced.description = description.join('\n')
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) reduced.anyOf = alternatives.map(outputSchema)
  if (Array.isArray(schema.allOf)) reduced.allOf = schema.allOf.map(outputSchema)
  if (schema.items !== undefined) reduced.items = outputSchema(schema.items)
  for (const key of ['properties', '$defs', 'definitions']) {
    const named = schema[key]
    if (!isRecord(named)) continue
    reduced[key] = Object.fromEntries(Object.entries(named).map(([name, value]) => [name, outputSchema(value)]))
  }
  if (schema.type === 'object' || isRecord(schema.properties)) reduced.additionalProperties = false
  return reduced
}
