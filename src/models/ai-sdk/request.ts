// ModelRequest → the call options of the AI SDK's provider interface. Versions 2, 3 and 4 differ only in files and reasoning.

import type { ModelSettings } from '../../domain/agent/agent.ts'
import { isOpenObject } from '../../domain/agent/tool-settings.ts'
import { traceHeaders } from '../../domain/telemetry.ts'
import { type ModelMessage, type ModelRequest, withAside } from '../model.ts'
import { type JsonObject, parseObject } from '../wire/json.ts'
import { proofOf, signed } from '../wire/signature.ts'
import type { LanguageModel } from './load-provider.ts'

type Version = LanguageModel['specificationVersion']

export function callOptions(request: ModelRequest, settings: ModelSettings, version: Version): JsonObject {
  const maker = makerOf(settings)
  const options: JsonObject = {
    prompt: [
      ...(request.system === '' ? [] : [{ role: 'system', content: request.system }]),
      ...promptOf(withAside(request), maker, version),
    ],
    includeRawChunks: false,
  }
  if (request.trace !== undefined) options.headers = { ...traceHeaders(request.trace) }
  if (settings.maxTokens !== undefined) options.maxOutputTokens = settings.maxTokens
  if (settings.temperature !== undefined) options.temperature = settings.temperature
  if (settings.topP !== undefined) options.topP = settings.topP
  if (request.tools.length > 0) {
    options.tools = request.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      name,
      description,
      inputSchema: parameters,
    }))
    options.toolChoice = { type: 'auto' }
  }
  if (request.responseFormat !== null) {
    const schema = request.responseFormat
    options.responseFormat = isOpenObject(schema) ? { type: 'json' } : { type: 'json', schema, name: 'answer' }
  }
  // Before version 4 every provider had its own option for it.
  if (version === 'v4' && settings.reasoning?.effort !== undefined) options.reasoning = settings.reasoning.effort
  return options
}

/** The provider's metadata is kept as a signature and sent back as provider options. */
export const metadataSignature = (metadata: JsonObject, settings: ModelSettings): string =>
  signed(makerOf(settings), JSON.stringify(metadata))

const makerOf = (settings: ModelSettings): string => `ai-sdk/${settings.package}`

function promptOf(messages: readonly ModelMessage[], maker: string, version: Version): JsonObject[] {
  const prompt: { role: string; content: JsonObject[] }[] = []
  for (const message of messages) {
    const content = contentOf(message, maker, version)
    if (content.length === 0) continue
    const last = prompt.at(-1)
    // All results of one step go into one message.
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(...content)
    else prompt.push({ role: message.role, content })
  }
  return prompt
}

function contentOf(message: ModelMessage, maker: string, version: Version): JsonObject[] {
  switch (message.role) {
    case 'user':
      return [
        ...(message.content === '' ? [] : [{ type: 'text', text: message.content }]),
        ...(message.attachments ?? []).map(({ mimeType, data, name }) => ({
          type: 'file',
          mediaType: mimeType,
          filename: name,
          // Since version 4 the data carries its own type.
          data: version === 'v4' ? { type: 'data', data } : data,
        })),
      ]
    case 'tool': {
      const output = { type: message.isError ? 'error-text' : 'text', value: message.content }
      return [{ type: 'tool-result', toolCallId: message.toolCallId, toolName: message.toolName, output }]
    }
    case 'assistant': {
      const { reasoning, content, toolCalls } = message
      const thought =
        reasoning !== undefined && (reasoning.text !== '' || proofOf(maker, reasoning.signature) !== undefined)
      return [
        ...(thought
          ? [{ type: 'reasoning', text: reasoning.text, ...providerOptions(reasoning.signature, maker) }]
          : []),
        ...(content === '' ? [] : [{ type: 'text', text: content }]),
        ...toolCalls.map((call) => ({
          type: 'tool-call',
          toolCallId: call.id,
          toolName: call.name,
          input: parseObject(call.arguments) ?? { invalid_json: call.arguments },
          ...providerOptions(call.signature, maker),
        })),
      ]
    }
  }
}

function providerOptions(signature: string | undefined, maker: string): JsonObject {
  const proof = proofOf(maker, signature)
  const metadata = proof === undefined ? null : parseObject(proof)
  return metadata === null ? {} : { providerOptions: metadata }
}
