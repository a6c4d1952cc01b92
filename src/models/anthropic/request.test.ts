import { describe, expect, test } from 'vitest'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import type { ModelRequest } from '../model.ts'
import { emptyRequest } from '../testing/fixtures.ts'
import { anthropicApi } from './request.ts'

const settings: ModelSettings = {
  provider: 'anthropic',
  name: 'claude-test',
  apiKey: 'sk-ant-test',
  contextWindow: 200_000,
  retries: 2,
  firstTokenTimeoutMs: 60_000,
  tokenTimeoutMs: 30_000,
}

/** With the address as text, so that a failing test shows it. */
function anthropicRequest(request: ModelRequest, settings: ModelSettings) {
  const { url, ...rest } = anthropicApi(settings).request(request)
  return { url: url.href, ...rest }
}

const bodyOf = (request: Partial<ModelRequest>, more: Partial<ModelSettings> = {}) =>
  anthropicRequest({ ...emptyRequest, ...request }, { ...settings, ...more }).body

const mark = { cache_control: { type: 'ephemeral' } }

const assistant = (more: object) => ({ role: 'assistant', content: '', toolCalls: [], ...more }) as const

describe('Anthropic request', () => {
  test('carries a whole conversation: thinking first, results together, then the user', () => {
    const parameters = { type: 'object', properties: {} }
    const request: ModelRequest = {
      system: 'Be brief.',
      aside: '',
      messages: [
        { role: 'user', content: 'Look at both.' },
        {
          role: 'assistant',
          content: 'Looking.',
          toolCalls: [
            { id: 'toolu_1', name: 'look', arguments: '{"at":1}' },
            { id: 'call/2', name: 'look', arguments: '{broken' },
          ],
          reasoning: { text: 'Both.', signature: 'anthropic:c2ln' },
        },
        { role: 'tool', toolCallId: 'toolu_1', toolName: 'look', content: 'fine', isError: false },
        { role: 'tool', toolCallId: 'call/2', toolName: 'look', content: 'no JSON', isError: true },
        { role: 'user', content: 'Go on.' },
        assistant({}),
        { role: 'user', content: 'Hello?' },
      ],
      tools: [{ name: 'look', description: 'Looks at a thing.', parameters }],
      responseFormat: null,
      sessionId: 'session-1',
    }
    expect(anthropicRequest(request, { ...settings, temperature: 0.3, topP: 0.9, maxTokens: 50 })).toEqual({
      url: 'https://api.anthropic.com/v1/messages',
      headers: { 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-ant-test' },
      body: {
        model: 'claude-test',
        max_tokens: 50,
        stream: true,
        system: [{ type: 'text', text: 'Be brief.', ...mark }],
        metadata: { user_id: 'session-1' },
        temperature: 0.3,
        top_p: 0.9,
        tools: [{ name: 'look', description: 'Looks at a thing.', input_schema: parameters, ...mark }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Look at both.', ...mark }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Both.', signature: 'c2ln' },
              { type: 'text', text: 'Looking.' },
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
              { type: 'tool_use', id: 'call_2', name: 'look', input: { invalid_json: '{broken' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'toolu_1', content: 'fine' },
              { type: 'tool_result', tool_use_id: 'call_2', content: 'no JSON', is_error: true },
              { type: 'text', text: 'Go on.' },
              { type: 'text', text: 'Hello?', ...mark },
            ],
          },
        ],
      },
    })
  })

  test('says last what is only true now, behind the marks of the newest two turns', () => {
    const turns = ['One', 'Two', 'Three'].map((content) => ({ role: 'user', content }) as const)
    const messages = turns.flatMap((turn) => [assistant({ content: 'Well.' }), turn])
    const said = { role: 'assistant', content: [{ type: 'text', text: 'Well.' }] }
    expect(bodyOf({ messages, aside: 'It rains.' })).toMatchObject({
      messages: [
        said,
        { role: 'user', content: [{ type: 'text', text: 'One' }] },
        said,
        { role: 'user', content: [{ type: 'text', text: 'Two', ...mark }] },
        said,
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Three', ...mark },
            { type: 'text', text: 'It rains.' },
          ],
        },
      ],
    })
  })

  test('sends several blocks of thinking back as they were', () => {
    const blocks = [
      { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
    ]
    const reasoning = { text: 'Hm', signature: `anthropic:${JSON.stringify(blocks)}` }
    expect(bodyOf({ messages: [assistant({ content: 'Yes', reasoning })] })).toMatchObject({
      messages: [{ role: 'assistant', content: [...blocks, { type: 'text', text: 'Yes' }] }],
    })
  })

  test('leaves out thinking that is not signed, or signed by another provider', () => {
    const said = { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] }
    for (const reasoning of [
      { text: 'Hm' },
      { text: 'Hm', signature: 'google:x' },
      { text: '', signature: 'anthropic:[oops' },
    ]) {
      expect(bodyOf({ messages: [assistant({ content: 'Yes', reasoning })] })).toMatchObject({ messages: [said] })
    }
  })

  test('asks for thinking by a budget, which is added to the limit, or by effort', () => {
    expect(bodyOf({}, { reasoning: { budgetTokens: 2000 } })).toEqual({
      model: 'claude-test',
      max_tokens: 10_192,
      stream: true,
      metadata: { user_id: 'session-1' },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }] }],
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })
    expect(bodyOf({}, { reasoning: { effort: 'high' } })).toMatchObject({
      max_tokens: 8192,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    })
  })

  test('asks for any object in words, because the API closes every object of a schema', () => {
    const body = bodyOf({ responseFormat: { type: 'object' } })

    expect(body).toMatchObject({ system: [{ text: expect.stringContaining('as one JSON object alone') }] })
    expect(body).not.toHaveProperty('output_config')
  })

  test('asks for structured output with a schema that the API accepts', () => {
    const schema = {
      type: 'object',
      description: 'A person.',
      properties: {
        age: { type: 'integer', minimum: 0, maximum: 150 },
        site: { type: 'string', format: 'uri' },
        code: { type: 'string', format: 'regex', pattern: '^a' },
        kind: { oneOf: [{ const: 'a' }, { type: 'array', items: { type: 'object' }, minItems: 1 }] },
      },
      required: ['age'],
      additionalProperties: true,
      $defs: { other: { type: 'object', properties: {} } },
    }
    expect(bodyOf({ responseFormat: schema })).toMatchObject({
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            description: 'A person.',
            properties: {
              age: { type: 'integer', description: 'minimum: 0, maximum: 150' },
              site: { type: 'string', format: 'uri' },
              code: { type: 'string', description: 'pattern: "^a", format: regex' },
              kind: {
                anyOf: [
                  { const: 'a' },
                  { type: 'array', items: { type: 'object', additionalProperties: false }, description: 'minItems: 1' },
                ],
              },
            },
            required: ['age'],
            additionalProperties: false,
            $defs: { other: { type: 'object', properties: {}, additionalProperties: false } },
          },
        },
      },
    })
  })

  test.each([
    ['http://h', 'http://h/v1/messages'],
    ['http://h/v1/', 'http://h/v1/messages'],
    ['http://h/proxy/v1/messages', 'http://h/proxy/v1/messages'],
  ])('finds the path for %s', (baseUrl, url) => {
    const request = anthropicRequest(emptyRequest, { ...settings, baseUrl, apiKey: 'none' })
    expect(request.url).toBe(url)
    expect(request.headers).toEqual({ 'anthropic-version': '2023-06-01' })
  })

  test('probes the model by its name', () => {
    expect(anthropicApi(settings).probe.url.href).toBe('https://api.anthropic.com/v1/models/claude-test')
  })
})

const attachments = [
  { type: 'image', mimeType: 'image/png', data: 'cG5n', name: 'photo.png', tokens: 1_500 },
  { type: 'document', mimeType: 'application/pdf', data: 'cGRm', name: 'report.pdf', tokens: 2_000 },
] as const

test('files come before the text of an Anthropic message, as blocks', () => {
  const messages = [{ role: 'user', content: 'Compare them.', attachments }] as const
  expect(bodyOf({ messages })).toMatchObject({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'cG5n' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
            title: 'report.pdf',
          },
          { type: 'text', text: 'Compare them.' },
        ],
      },
    ],
  })
})
