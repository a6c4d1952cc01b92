// ModelRequest → chat completions, for OpenAI and all servers that imitate it. Pure.

import { createHash } from 'node:crypto'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { isOpenObject } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type ModelMessage, type ModelRequest, withAside } from '../model.ts'
import { withPath } from '../wire/base-url.ts'
import type { JsonObject } from '../wire/json.ts'
import type { ProviderApi } from '../wire/wire-model.ts'
import { type Dialect, dialectOf } from './dialect.ts'

export function openAiApi(settings: ModelSettings): ProviderApi {
  const dialect = dialectOf(settings)
  const { azure } = dialect
  const headers = authHeaders(dialect, settings)
  const url = apiUrl(dialect, settings.name, 'chat/completions')
  // Any answer except a refused key proves that the server is there. OpenAI itself also says whether it knows the model.
  const probeNamesModel = dialect.promptCacheKey && !azure
  const models = apiUrl(dialect, settings.name, 'models')
  return {
    host: dialect.url.host,
    keyVariable: keyVariableOf(dialect),
    request: (request) => ({ url, headers, body: body(request, settings, dialect) }),
    probe: { url: probeNamesModel ? withPath(models, `/${encodeURIComponent(settings.name)}`) : models, headers },
    probeNamesModel,
  }
}

export const keyVariableOf = ({ azure }: Dialect): string => (azure ? 'AZURE_OPENAI_API_KEY' : 'OPENAI_API_KEY')

export function authHeaders({ azure }: Dialect, { apiKey }: Pick<ModelSettings, 'apiKey'>): Record<string, string> {
  if (apiKey === undefined || apiKey === 'none') return {}
  return azure ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` }
}

type ApiPath = 'chat/completions' | 'models' | 'embeddings'

export const apiUrl = (dialect: Dialect, name: string, path: ApiPath): URL =>
  dialect.azure ? azureUrl(dialect, name, path) : withPath(apiRoot(dialect.url), `/${path}`)

/** Users copy the whole address from a provider's page. */
function apiRoot(url: URL): URL {
  const root = new URL(url)
  root.pathname = root.pathname.replace(/\/(?:chat\/completions|embeddings)\/?$/, '')
  return root
}

/**
 * Users write Azure's address in three ways: the resource (`https://x.openai.azure.com`), its v1 API (`…/openai/v1`), or a deployment
 * (`…/openai/deployments/name?api-version=…`). A resource with an `api-version` means its deployments, without one the v1 API.
 */
function azureUrl({ url }: Dialect, deployment: string, path: ApiPath): URL {
  const root = apiRoot(url)
  const toDeployment = /^(.*\/openai)\/deployments\/[^/]+\/?$/.exec(root.pathname)
  if (toDeployment !== null) {
    if (path !== 'models') return withPath(root, `/${path}`)
    root.pathname = toDeployment[1] ?? ''
    return withPath(root, '/models')
  }
  if (/\/openai\/v1\/?$/.test(root.pathname)) return withPath(root, `/${path}`)
  root.pathname = root.pathname.replace(/\/openai\/?$/, '')
  if (!root.searchParams.has('api-version')) return withPath(root, `/openai/v1/${path}`)
  return withPath(
    root,
    path === 'models' ? '/openai/models' : `/openai/deployments/${encodeURIComponent(deployment)}/${path}`,
  )
}

function body(request: ModelRequest, settings: ModelSettings, dialect: Dialect): JsonObject {
  const schema = request.responseFormat
  const takesSchema = dialect.jsonSchema && schema !== null && !isOpenObject(schema)
  const system = schema === null || takesSchema ? request.system : withSchema(request.system, schema)
  const body: JsonObject = {
    model: settings.name,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...withAside(request).map((message) => wireMessage(message, dialect)),
    ],
    stream: true,
  }
  if (dialect.streamOptions) body.stream_options = { include_usage: true }
  if (request.tools.length > 0) {
    body.tools = request.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }))
  }
  if (schema !== null) {
    body.response_format = takesSchema
      ? { type: 'json_schema', json_schema: { name: 'answer', schema, strict: isStrict(schema) } }
      : { type: 'json_object' }
  }
  if (settings.temperature !== undefined) body.temperature = settings.temperature
  if (settings.topP !== undefined) body.top_p = settings.topP
  if (settings.maxTokens !== undefined) body[dialect.maxTokensKey] = settings.maxTokens
  if (settings.reasoning?.effort !== undefined) body.reasoning_effort = settings.reasoning.effort
  if (dialect.promptCacheKey) body.prompt_cache_key = fitting(request.sessionId, MAX_CACHE_KEY)
  return body
}

function wireMessage(message: ModelMessage, dialect: Dialect): JsonObject {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message) }
    case 'tool':
      return { role: 'tool', tool_call_id: callId(message.toolCallId, dialect), content: message.content }
    case 'assistant': {
      const { content, toolCalls, reasoning } = message
      const wire: JsonObject = { role: 'assistant', content: content === '' && toolCalls.length > 0 ? null : content }
      if (dialect.returnReasoning && reasoning !== undefined && reasoning.text !== '') {
        wire.reasoning_content = reasoning.text
      }
      if (toolCalls.length > 0) {
        wire.tool_calls = toolCalls.map((call) => ({
          id: callId(call.id, dialect),
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        }))
      }
      return wire
    }
  }
}

/** Text alone is sent as a string, because many compatible servers do not know content parts. */
function userContent({ content, attachments = [] }: Extract<ModelMessage, { role: 'user' }>): string | JsonObject[] {
  if (attachments.length === 0) return content
  return [
    ...(content === '' ? [] : [{ type: 'text', text: content }]),
    ...attachments.map(({ type, mimeType, data, name }) => {
      const url = `data:${mimeType};base64,${data}`
      return type === 'image'
        ? { type: 'image_url', image_url: { url } }
        : { type: 'file', file: { filename: name, file_data: url } }
    }),
  ]
}

/** OpenAI and compatible servers refuse longer call ids and longer cache keys. */
const MAX_CALL_ID = 40
const MAX_CACHE_KEY = 64

function callId(id: string, { shortCallIds }: Dialect): string {
  if (!shortCallIds) return fitting(id, MAX_CALL_ID)
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash(id).slice(0, 9)
}

const fitting = (id: string, max: number): string => (id.length <= max ? id : hash(id).slice(0, max))

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

const withSchema = (system: string, schema: JsonObject): string =>
  `${system}${system === '' ? '' : '\n\n'}Answer with JSON only, valid against this JSON Schema:\n${JSON.stringify(schema)}`

/** OpenAI refuses `strict` unless every object lists all its properties as required and allows no others. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isRecord(schema)) return true
  const { properties } = schema
  if (isRecord(properties)) {
    const required = Array.isArray(schema.required) ? schema.required : []
    if (schema.additionalProperties !== false) return false
    if (!Object.keys(properties).every((name) => required.includes(name))) return false
    if (!Object.values(properties).every(isStrict)) return false
  } else if (schema.type === 'object') {
    return false
  }
  const { $defs, definitions, items, anyOf } = schema
  return (
    [$defs, definitions].every((named) => !isRecord(named) || Object.values(named).every(isStrict)) &&
    isStrict(items) &&
    isStrict(anyOf)
  )
}
