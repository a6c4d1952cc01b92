// The tools, resources and prompts that the MCP conformance suite looks for. Names, texts and timing are the suite's.
// They go through the same door as everything else.

import {
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  InMemoryServerEventBus,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Clock, sleep } from '../../src/domain/clock.ts'
import type { McpExtension } from '../../src/protocols/mcp/server-factory.ts'
import { addInputRequiredFixtures } from './input-required-fixtures.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, text: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text },
})

/** `key` signs what a client sends back. */
export function createConformanceFixtures(clock: Clock, key: Uint8Array): McpExtension {
  const bus = new InMemoryServerEventBus()
  const states = createRequestStateCodec<{ round: number }>({ key })
  return {
    bus,
    serverOptions: { requestState: { verify: states.verify } },
    addTo(server) {
      server.server.registerCapabilities({
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      })
      addContentTools(server)
      addWorkingTools(server, clock)
      addAskingTools(server)
      addChangeTools(server, bus)
      addSchemaTools(server)
      addInputRequiredFixtures(server, states)
      addResources(server)
      addPrompts(server)
    },
  }
}

function addContentTools(server: McpServer): void {
  const simple = (name: string, content: ReturnType<typeof said> | { content: unknown[] }) =>
    server.registerTool(name, { description: `Fixture: ${name}` }, () => content as ReturnType<typeof said>)
  simple('test_simple_text', said('This is a simple text response for testing.'))
  simple('test_image_content', { content: [image] })
  simple('test_audio_content', { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })
  simple('test_embedded_resource', {
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  })
  simple('test_multiple_content_types', {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  })
  server.registerTool('test_error_handling', { description: 'Fixture: always fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
}

function addWorkingTools(server: McpServer, clock: Clock): void {
  server.registerTool('test_tool_with_logging', { description: 'Fixture: logs' }, async ({ mcpReq }) => {
    for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', text)
      await sleep(clock, 50)
    }
    return said('Tool with logging executed successfully')
  })
  server.registerTool('test_logging_tool', { description: 'Fixture: logs once' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'Only for who asked')
    return said('Logged')
  })
  server.registerTool('test_tool_with_progress', { description: 'Fixture: progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` }
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params })
      await sleep(clock, 50)
    }
    return said('Done')
  })
  server.registerTool('test_reconnection', { description: 'Fixture: closes its stream' }, async ({ http }) => {
    http?.closeSSE?.()
    await sleep(clock, 100)
    return said('Reconnection test completed successfully.')
  })
}

/** On the stream of the call. The SDK would otherwise use the client's other stream, which may not be open yet. */
const elicit = (mcpReq: ServerContext['mcpReq'], params: Parameters<typeof mcpReq.elicitInput>[0]) =>
  mcpReq.elicitInput(params, { relatedRequestId: mcpReq.id })

function addAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Fixture: sampling', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const answer = await mcpReq.requestSampling(
        {
          messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
          maxTokens: 100,
        },
        { relatedRequestId: mcpReq.id },
      )
      const content = [answer.content].flat()
      return said(`LLM response: ${content.map((part) => (part.type === 'text' ? part.text : '')).join('')}`)
    },
  )
  const text = (description: string) => ({ type: 'string' as const, description })
  server.registerTool(
    'test_elicitation',
    { description: 'Fixture: elicitation', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, { mcpReq }) => {
      const properties = { username: text("User's response"), email: text("User's email address") }
      const { action, content } = await elicit(mcpReq, {
        message,
        requestedSchema: { type: 'object', properties, required: ['username', 'email'] },
      })
      return said(`User response: action=${action}, content=${JSON.stringify(content)}`)
    },
  )
  server.registerTool('test_elicitation_sep1034_defaults', { description: 'Fixture: defaults' }, async ({ mcpReq }) => {
    const { action, content } = await elicit(mcpReq, {
      message: 'Please review the defaults',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
      },
    })
    return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
  })
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Fixture: enums' }, async ({ mcpReq }) => {
    const options = ['option1', 'option2', 'option3']
    const titled = (what: string) =>
      ['First', 'Second', 'Third'].map((one, i) => ({ const: `value${i + 1}`, title: `${one} ${what}` }))
    const { action, content } = await elicit(mcpReq, {
      message: 'Please choose',
      requestedSchema: {
        type: 'object',
        properties: {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled('Option') },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
        },
      },
    })
    return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
  })
}

function addChangeTools(server: McpServer, bus: InMemoryServerEventBus): void {
  server.registerTool('test_trigger_tool_change', { description: 'Fixture: the tools changed' }, () => {
    bus.publish({ kind: 'tools_list_changed' })
    return said('Told')
  })
  server.registerTool('test_trigger_prompt_change', { description: 'Fixture: the prompts changed' }, () => {
    bus.publish({ kind: 'prompts_list_changed' })
    return said('Told')
  })
}

function addSchemaTools(server: McpServer): void {
  const inputSchema = fromJsonSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  })
  const description = 'Tool with JSON Schema 2020-12 features'
  server.registerTool('json_schema_2020_12_tool', { description, inputSchema }, () => said('Valid'))
  server.registerTool(
    'test_custom_headers',
    {
      description: 'Fixture: a parameter that is also a header',
      inputSchema: z.object({ value: z.string().meta({ 'x-mcp-header': 'Value' }) }),
    },
    ({ value }) => said(value),
  )
}

function addResources(server: McpServer): void {
  const add = (name: string, uri: string, mimeType: string, content: { text: string } | { blob: string }) =>
    server.registerResource(name, uri, { description: `Fixture: ${name}`, mimeType }, () => ({
      contents: [{ uri, mimeType, ...content }],
    }))
  add('static-text', 'test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' })
  add('static-binary', 'test://static-binary', 'image/png', { blob: PNG })
  add('watched-resource', 'test://watched-resource', 'text/plain', { text: 'Watched.' })
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Fixture: a template', mimeType: 'application/json' },
    (uri, { id }) => {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] }
    },
  )
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

function addPrompts(server: McpServer): void {
  const user = <T>(content: T) => ({ role: 'user' as const, content })
  const text = (words: string) => user({ type: 'text' as const, text: words })
  server.registerPrompt('test_simple_prompt', { description: 'Fixture: a prompt' }, () => ({
    messages: [text('This is a simple prompt for testing.')],
  }))
  const arg = (description: string) => completable(z.string().describe(description), () => ['paris', 'park', 'party'])
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'Fixture: a prompt with arguments',
      argsSchema: z.object({ arg1: arg('First test argument'), arg2: arg('Second test argument') }),
    },
    ({ arg1, arg2 }) => ({ messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Fixture: a prompt with a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        text('Please process the embedded resource above.'),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'Fixture: a prompt with an image' }, () => ({
    messages: [user(image), text('Please analyze the image above.')],
  }))
}
