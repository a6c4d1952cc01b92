import { describe, expect, test } from 'vitest'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import type { ModelRequest } from '../model.ts'
import { emptyRequest } from '../testing/fixtures.ts'
import { googleApi } from './request.ts'

const settings: ModelSettings = {
  provider: 'google',
  name: 'gemini-2.5-flash',
  apiKey: 'AIza-test',
  contextWindow: 1_000_000,
  retries: 2,
  firstTokenTimeoutMs: 60_000,
  tokenTimeoutMs: 30_000,
}

/** With the address as text, so that a failing test shows it. */
function googleRequest(request: ModelRequest, settings: ModelSettings) {
  const { url, ...rest } = googleApi(settings).request(request)
  return { url: url.href, ...rest }
}

const look = { name: 'look', description: 'Looks at a thing.', parameters: { type: 'object', properties: {} } }
const declared = [
  { functionDeclarations: [{ name: 'look', description: look.description, parametersJsonSchema: look.parameters }] },
]

const bodyOf = (request: Partial<ModelRequest>, more: Partial<ModelSettings> = {}) =>
  googleRequest({ ...emptyRequest, ...request }, { ...settings, ...more }).body

const calls: ModelRequest['messages'] = [
  { role: 'user', content: 'Look.' },
  {
    role: 'assistant',
    content: 'Looking.',
    toolCalls: [
      { id: 'c1', name: 'look', arguments: '{"at":1}', signature: 'google:EpEg' },
      { id: 'c2', name: 'look', arguments: '{broken' },
    ],
    reasoning: { text: 'Hm', signature: 'google:EqsF' },
  },
  { role: 'tool', toolCallId: 'c1', toolName: 'look', content: 'fine', isError: false },
  { role: 'tool', toolCallId: 'c2', toolName: 'look', content: 'no JSON', isError: true },
  { role: 'user', content: 'Go on.' },
]

describe('Gemini request', () => {
  test('carries a whole conversation, with signatures in their places', () => {
    const request = { ...emptyRequest, system: 'Be brief.', messages: calls, tools: [look] }
    expect(googleRequest(request, { ...settings, temperature: 0.3, topP: 0.9, maxTokens: 50 })).toEqual({
      url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': 'AIza-test' },
      body: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: declared,
        generationConfig: { temperature: 0.3, topP: 0.9, maxOutputTokens: 50 },
        contents: [
          { role: 'user', parts: [{ text: 'Look.' }] },
          {
            role: 'model',
            parts: [
              { text: 'Looking.', thoughtSignature: 'EqsF' },
              { functionCall: { id: 'c1', name: 'look', args: { at: 1 } }, thoughtSignature: 'EpEg' },
              { functionCall: { id: 'c2', name: 'look', args: { invalid_json: '{broken' } } },
            ],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { id: 'c1', name: 'look', response: { output: 'fine' } } },
              { functionResponse: { id: 'c2', name: 'look', response: { error: 'no JSON' } } },
              { text: 'Go on.' },
            ],
          },
        ],
      },
    })
  })

  test("marks a call of another provider's model for Gemini 3", () => {
    const call = { id: 'c1', name: 'look', arguments: '{}', signature: 'anthropic:x' }
    const messages = [{ role: 'assistant', content: '', toolCalls: [call, { ...call, id: 'c2' }] }] as const
    const parts = [
      { functionCall: { id: 'c1', name: 'look', args: {} } },
      { functionCall: { id: 'c2', name: 'look', args: {} } },
    ]
    expect(bodyOf({ messages }, { name: 'gemini-3-pro' })).toEqual({
      contents: [
        { role: 'model', parts: [{ ...parts[0], thoughtSignature: 'skip_thought_signature_validator' }, parts[1]] },
      ],
    })
    expect(bodyOf({ messages })).toEqual({ contents: [{ role: 'model', parts }] })
  })

  test('asks for thoughts by level since Gemini 3, and by budget before', () => {
    const thinking = (more: Partial<ModelSettings>) => bodyOf({}, more)
    const config = (thinkingConfig: object) => ({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true, ...thinkingConfig } },
    })
    expect(thinking({ name: 'gemini-3-pro', reasoning: { effort: 'low' } })).toEqual(config({ thinkingLevel: 'low' }))
    expect(thinking({ reasoning: { effort: 'low' } })).toEqual(config({ thinkingBudget: 1024 }))
    expect(thinking({ reasoning: { budgetTokens: 77 } })).toEqual(config({ thinkingBudget: 77 }))
    expect(thinking({ reasoning: {} })).toEqual(config({}))
  })

  test('asks for any object by the type of the answer alone', () => {
    expect(bodyOf({ responseFormat: { type: 'object' } })).toMatchObject({
      generationConfig: { responseMimeType: 'application/json' },
    })
    expect(JSON.stringify(bodyOf({ responseFormat: { type: 'object' } }))).not.toContain('responseJsonSchema')
  })

  test('asks for structured output; with tools, older models get the schema as text', () => {
    const responseFormat = { type: 'object', properties: {} }
    const native = { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: responseFormat } }
    expect(bodyOf({ responseFormat })).toMatchObject(native)
    expect(bodyOf({ responseFormat, tools: [look] }, { name: 'gemini-3-pro' })).toMatchObject(native)
    expect(bodyOf({ responseFormat, tools: [look], system: 'Be brief.' })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      tools: declared,
      systemInstruction: {
        parts: [
          {
            text: 'Be brief.\n\nWhen you have your final answer, give it as JSON only, valid against this JSON Schema:\n{"type":"object","properties":{}}',
          },
        ],
      },
    })
  })

  test.each([
    ['http://h', 'http://h/v1beta/models/m:streamGenerateContent?alt=sse'],
    ['http://h/v1', 'http://h/v1/models/m:streamGenerateContent?alt=sse'],
    ['http://h/x/', 'http://h/x/v1beta/models/m:streamGenerateContent?alt=sse'],
  ])('finds the path for %s', (baseUrl, url) => {
    const request = googleRequest(emptyRequest, { ...settings, baseUrl, name: 'models/m', apiKey: 'none' })
    expect([request.url, request.headers]).toEqual([url, {}])
  })

  test('probes the model by its name', () => {
    expect(googleApi(settings).probe.url.href).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash',
    )
  })
})

const attachments = [
  { type: 'image', mimeType: 'image/png', data: 'cG5n', name: 'photo.png', tokens: 1_500 },
  { type: 'document', mimeType: 'application/pdf', data: 'cGRm', name: 'report.pdf', tokens: 2_000 },
] as const

test('files come before the text of a Gemini content, inline', () => {
  const messages = [{ role: 'user', content: 'Compare them.', attachments }] as const
  expect(bodyOf({ messages })).toMatchObject({
    contents: [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'cG5n' } },
          { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
          { text: 'Compare them.' },
        ],
      },
    ],
  })
})
