// ModelRequest → Gemini's generateContent. Pure.

import type { ModelSettings } from '../../domain/agent/agent.ts'
import { isOpenObject } from '../../domain/agent/tool-settings.ts'
import { type ModelMessage, type ModelRequest, withAside } from '../model.ts'
import { baseUrl, withPath } from '../wire/base-url.ts'
import { type JsonObject, parseObject } from '../wire/json.ts'
import { mergedMessages } from '../wire/merged-messages.ts'
import { proofOf } from '../wire/signature.ts'
import type { ProviderApi } from '../wire/wire-model.ts'
import { MAKER } from './decode.ts'

const GOOGLE_URL = 'https://generativelanguage.googleapis.com/v1beta'

export const KEY_VARIABLE = 'GOOGLE_API_KEY (or GEMINI_API_KEY)'

/** Gemini 3 refuses a call in the history without its signature. Google accepts this value for calls that another model made. */
const MADE_ELSEWHERE = 'skip_thought_signature_validator'

const BUDGETS = { low: 1024, medium: 8192, high: 24576 } as const

export function googleApi(settings: ModelSettings): ProviderApi {
  const root = apiRoot(settings)
  const url = withPath(root, `/models/${modelName(settings)}:streamGenerateContent`, { alt: 'sse' })
  const headers = headersOf(settings)
  return {
    host: root.host,
    keyVariable: KEY_VARIABLE,
    request: (request) => ({ url, headers, body: body(request, settings) }),
    probe: { url: withPath(root, `/models/${modelName(settings)}`), headers },
    probeNamesModel: settings.baseUrl === undefined,
  }
}

/** Accepts a base URL with and without its version. */
export function apiRoot(settings: Pick<ModelSettings, 'provider' | 'baseUrl'>): URL {
  const root = baseUrl(settings, GOOGLE_URL)
  if (!/\/v\d\w*(\/|$)/.test(root.pathname)) root.pathname = `${root.pathname.replace(/\/+$/, '')}/v1beta`
  return root
}

export const modelName = ({ name }: Pick<ModelSettings, 'name'>): string =>
  encodeURIComponent(name.replace(/^models\//, ''))

export function headersOf({ apiKey }: Pick<ModelSettings, 'apiKey'>): Record<string, string> {
  return apiKey === undefined || apiKey === 'none' ? {} : { 'x-goog-api-key': apiKey }
}

/** Since Gemini 3: thinking levels, checked signatures, and JSON answers together with tools. */
const isGemini3 = (name: string): boolean => /gemini-([3-9]|\d\d)/.test(name)

function body(request: ModelRequest, settings: ModelSettings): JsonObject {
  const modern = isGemini3(settings.name)
  const schema = request.responseFormat
  const schemaInWords = schema !== null && request.tools.length > 0 && !modern
  const system = schemaInWords ? withSchema(request.system, schema) : request.system
  // Roles must alternate, so the results of one step, and a user's message after them, form one content.
  const contents = mergedMessages(
    withAside(request),
    ({ role }) => (role === 'assistant' ? 'model' : 'user'),
    (message) => partsOf(message, modern),
  )
  const body: JsonObject = { contents }
  if (system !== '') body.systemInstruction = { parts: [{ text: system }] }
  if (request.tools.length > 0) {
    const declarations = request.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parametersJsonSchema: parameters,
    }))
    body.tools = [{ functionDeclarations: declarations }]
  }
  const config: JsonObject = {}
  if (settings.temperature !== undefined) config.temperature = settings.temperature
  if (settings.topP !== undefined) config.topP = settings.topP
  if (settings.maxTokens !== undefined) config.maxOutputTokens = settings.maxTokens
  if (schema !== null && !schemaInWords) {
    config.responseMimeType = 'application/json'
    if (!isOpenObject(schema)) config.responseJsonSchema = schema
  }
  const thinking = thinkingConfig(settings, modern)
  if (thinking !== null) config.thinkingConfig = thinking
  if (Object.keys(config).length > 0) body.generationConfig = config
  return body
}

function thinkingConfig({ reasoning }: ModelSettings, modern: boolean): JsonObject | null {
  if (reasoning === undefined) return null
  const { effort, budgetTokens } = reasoning
  if (budgetTokens !== undefined) return { includeThoughts: true, thinkingBudget: budgetTokens }
  if (effort === undefined) return { includeThoughts: true }
  return modern
    ? { includeThoughts: true, thinkingLevel: effort }
    : { includeThoughts: true, thinkingBudget: BUDGETS[effort] }
}

function partsOf(message: ModelMessage, modern: boolean): JsonObject[] {
  switch (message.role) {
    case 'user':
      return [
        ...(message.attachments ?? []).map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })),
        ...(message.content === '' ? [] : [{ text: message.content }]),
      ]
    case 'tool': {
      const response = message.isError ? { error: message.content } : { output: message.content }
      return [{ functionResponse: { id: message.toolCallId, name: message.toolName, response } }]
    }
    case 'assistant': {
      const proof = proofOf(MAKER, message.reasoning?.signature)
      const text = { text: message.content, thoughtSignature: proof }
      return [
        ...(message.content === '' && proof === undefined ? [] : [text]),
        ...message.toolCalls.map((call, position) => {
          // Of parallel calls only the first has a signature.
          const own = proofOf(MAKER, call.signature) ?? (modern && position === 0 ? MADE_ELSEWHERE : undefined)
          const args = parseObject(call.arguments) ?? { invalid_json: call.arguments }
          return { functionCall: { id: call.id, name: call.name, args }, thoughtSignature: own }
        }),
      ]
    }
  }
}

const withSchema = (system: string, schema: JsonObject): string =>
  `${system}${system === '' ? '' : '\n\n'}When you have your final answer, give it as JSON only, valid against this JSON Schema:\n${JSON.stringify(schema)}`
