import { describe, expect, test } from 'vitest'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import type { ModelRequest } from '../model.ts'
import { emptyRequest } from '../testing/fixtures.ts'
import { openAiApi } from './request.ts'

const settings: ModelSettings = {
  provider: 'openai',
  name: 'gpt-test',
  apiKey: 'sk-test',
  contextWindow: 128_000,
  retries: 2,
  firstTokenTimeoutMs: 60_000,
  tokenTimeoutMs: 30_000,
}

/** With the address as text, so that a failing test shows it. */
function openAiRequest(request: ModelRequest, settings: ModelSettings) {
  const { url, ...rest } = openAiApi(settings).request(request)
  return { url: url.href, ...rest }
}

const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}

const conversation: ModelRequest = {
  system: 'Be brief.',
  aside: '',
  messages: [
    { role: 'user', content: 'Weather in Rome?' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}', signature: 'google:x' }],
      reasoning: { text: 'I need the tool.', signature: 'anthropic:x' },
    },
    { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'sunny', isError: false },
    { role: 'assistant', content: 'Sunny.', toolCalls: [] },
    { role: 'user', content: 'Thanks' },
  ],
  tools: [weather],
  responseFormat: null,
  sessionId: 'session-1',
}

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Weather in Rome?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  { role: 'assistant', content: 'Sunny.' },
  { role: 'user', content: 'Thanks' },
]

const at = (baseUrl: string, more: Partial<ModelSettings> = {}): ModelSettings => ({ ...settings, baseUrl, ...more })

describe('OpenAI request', () => {
  test('asks OpenAI itself for everything its API has', () => {
    const full = { ...settings, temperature: 0, topP: 0.5, maxTokens: 100, reasoning: { effort: 'low' } } as const
    expect(openAiRequest(conversation, full)).toEqual({
      url: 'https://api.openai.com/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test' },
      body: {
        model: 'gpt-test',
        messages,
        stream: true,
        stream_options: { include_usage: true },
        tools: [{ type: 'function', function: weather }],
        temperature: 0,
        top_p: 0.5,
        max_completion_tokens: 100,
        reasoning_effort: 'low',
        prompt_cache_key: 'session-1',
      },
    })
  })

  test('sends a compatible server no key and nothing that it might not know', () => {
    const local = at('http://127.0.0.1:9199/v1', { apiKey: 'none', maxTokens: 100 })
    expect(openAiRequest(emptyRequest, local)).toEqual({
      url: 'http://127.0.0.1:9199/v1/chat/completions',
      headers: {},
      body: {
        model: 'gpt-test',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 100,
      },
    })
  })

  test('leaves out what Mistral refuses, and shortens ids it would refuse', () => {
    const { url, body } = openAiRequest(conversation, at('https://api.mistral.ai/v1/'))
    const shortened = '74196fe72'
    expect(url).toBe('https://api.mistral.ai/v1/chat/completions')
    expect(body).toEqual({
      model: 'gpt-test',
      messages: messages.map((message) => {
        if (message.tool_call_id !== undefined) return { ...message, tool_call_id: shortened }
        return message.tool_calls === undefined
          ? message
          : { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: shortened })) }
      }),
      stream: true,
      tools: [{ type: 'function', function: weather }],
    })
  })

  test('sends reasoning back to DeepSeek, and the schema of the answer as text', () => {
    const { body } = openAiRequest(
      { ...conversation, responseFormat: { type: 'object' } },
      at('https://api.deepseek.com'),
    )
    expect(body).toEqual({
      model: 'gpt-test',
      messages: [
        {
          role: 'system',
          content: 'Be brief.\n\nAnswer with JSON only, valid against this JSON Schema:\n{"type":"object"}',
        },
        messages[1],
        { ...messages[2], reasoning_content: 'I need the tool.' },
        ...messages.slice(3),
      ],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: weather }],
      response_format: { type: 'json_object' },
    })
  })

  test('sets strict only for a schema that follows the rules of strict', () => {
    const closed = {
      type: 'object',
      properties: { list: { type: 'array', items: { $ref: '#/$defs/item' } } },
      required: ['list'],
      additionalProperties: false,
      $defs: { item: { type: 'object', properties: {}, additionalProperties: false } },
    }
    const formatOf = (schema: Record<string, unknown>) =>
      openAiRequest({ ...emptyRequest, responseFormat: schema }, settings).body
    expect(formatOf(closed)).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: closed, strict: true } },
    })
    for (const open of [
      { ...closed, required: [] },
      { ...closed, additionalProperties: true },
      { ...closed, $defs: { item: { type: 'object' } } },
    ]) {
      expect(formatOf(open)).toMatchObject({ response_format: { json_schema: { schema: open, strict: false } } })
    }
    expect(formatOf({ type: 'object' })).toMatchObject({ response_format: { type: 'json_object' } })
  })

  test.each([
    ['https://x.openai.azure.com', 'https://x.openai.azure.com/openai/v1/chat/completions'],
    ['https://x.openai.azure.com/openai/v1/', 'https://x.openai.azure.com/openai/v1/chat/completions'],
    [
      'https://x.openai.azure.com/?api-version=2024-10-21',
      'https://x.openai.azure.com/openai/deployments/gpt-test/chat/completions?api-version=2024-10-21',
    ],
    [
      'https://x.openai.azure.com/openai/deployments/mine?api-version=2024-10-21',
      'https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21',
    ],
    [
      'https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21',
      'https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21',
    ],
  ])('finds the path of Azure for %s', (baseUrl, url) => {
    const { body, ...rest } = openAiRequest(emptyRequest, at(baseUrl, { provider: 'azure', maxTokens: 5 }))
    expect(rest).toEqual({ url, headers: { 'api-key': 'sk-test' } })
    expect(body).toMatchObject({ model: 'gpt-test', max_completion_tokens: 5 })
  })

  test('recognizes Azure by its host too', () => {
    const request = openAiRequest(emptyRequest, at('https://x.openai.azure.com/openai/v1'))
    expect(request.headers).toEqual({ 'api-key': 'sk-test' })
  })

  test.each([
    ['ollama', undefined, 'http://127.0.0.1:11434/v1/chat/completions'],
    ['ollama', 'http://gpu:11434', 'http://gpu:11434/v1/chat/completions'],
    ['ollama', 'http://gpu:11434/v1/', 'http://gpu:11434/v1/chat/completions'],
    ['openai', 'https://api.groq.com/openai/v1', 'https://api.groq.com/openai/v1/chat/completions'],
    ['openai', 'http://h/v1/chat/completions', 'http://h/v1/chat/completions'],
  ])('asks %s at %s under %s', (provider, baseUrl, url) => {
    expect(openAiRequest(emptyRequest, { ...settings, provider, ...(baseUrl && { baseUrl }) }).url).toBe(url)
  })

  test('refuses a base_url that is not an http address, without repeating it', () => {
    for (const baseUrl of ['localhost:8080', 'ftp://user:secret@host', '']) {
      expect(() => openAiRequest(emptyRequest, at(baseUrl))).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: 'model.base_url is not an http or https address. Write e.g. base_url: https://api.openai.com/v1',
        }),
      )
    }
  })

  test('probes the model if the server can describe it, otherwise the list of models', () => {
    const headers = { authorization: 'Bearer sk-test' }
    expect(openAiApi(settings)).toMatchObject({
      probe: { url: new URL('https://api.openai.com/v1/models/gpt-test'), headers },
      probeNamesModel: true,
    })
    expect(openAiApi(at('http://h/v1'))).toMatchObject({
      probe: { url: new URL('http://h/v1/models'), headers },
      probeNamesModel: false,
    })
    expect(openAiApi(at('https://x.openai.azure.com/openai/deployments/mine?api-version=1')).probe.url.href).toBe(
      'https://x.openai.azure.com/openai/models?api-version=1',
    )
  })
})

const attachments = [
  { type: 'image', mimeType: 'image/png', data: 'cG5n', name: 'photo.png', tokens: 1_500 },
  { type: 'document', mimeType: 'application/pdf', data: 'cGRm', name: 'report.pdf', tokens: 2_000 },
] as const

describe('files in an OpenAI request', () => {
  const messagesOf = (content: string) =>
    openAiRequest({ ...emptyRequest, messages: [{ role: 'user', content, attachments }] }, settings).body

  test('come after the text, as parts', () => {
    expect(messagesOf('Compare them.')).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Compare them.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,cG5n' } },
            { type: 'file', file: { filename: 'report.pdf', file_data: 'data:application/pdf;base64,cGRm' } },
          ],
        },
      ],
    })
  })

  test('need no text', () => {
    expect(messagesOf('')).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'image_url' }, { type: 'file' }] }],
    })
  })
})
