// Apps of MCP servers, as AG-UI clients see them.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSse } from '../../src/protocols/testing/sse-reader.ts'
import { openWeather } from './open-weather.ts'

type Event = Record<string, unknown> & { type: string; content?: Record<string, unknown> }

/** Sends a run input and returns the events of the answer. */
async function send(url: string, more: Record<string, unknown>, path = '/'): Promise<Event[]> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      protocolVersion: '1.0',
      threadId: 'thread',
      runId: crypto.randomUUID(),
      messages: [],
      ...more,
    }),
  })
  expect(response.status).toBe(200)
  return (await readSse(response).rest()).map(({ data }) => JSON.parse(data))
}

/** What assistant-ui makes of the events of a run. It does not export it. */
const AGGREGATOR = join(
  import.meta.dirname,
  '../../node_modules/@assistant-ui/react-ag-ui/dist/runtime/adapter/run-aggregator.js',
)

const say = (content: string) => ({ messages: [{ id: crypto.randomUUID(), role: 'user', content }] })
const appsIn = (events: Event[]) => events.filter(({ activityType }) => activityType === 'mcp-apps')

async function showWeather(url: string) {
  const [shown] = appsIn(await send(url, say('the weather, please')))
  const { serverHash = '' } = shown?.content ?? {}
  return { serverHash }
}

/** A request of the app, as CopilotKit sends it. */
async function ask(url: string, app: object, method: string, params: unknown, more = {}) {
  const request = { ...app, method, params }
  const events = await send(url, { forwardedProps: { __proxiedMCPRequest: request }, ...more })
  expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  return events[1]?.result
}

const call = (url: string, app: object, name: string, city: unknown = 'Kiel') =>
  ask(url, app, 'tools/call', { name, arguments: { city } })

test('assistant-ui finds the app in our events, and gives its page the id that a request of the app takes', async () => {
  const { RunAggregator } = await import(AGGREGATOR)
  await using app = await openWeather()
  const events = await send(app.url, say('the weather, please'))
  let parts: { type: string; mcp?: { app: { resourceUri: string; serverId: string } }; result?: unknown }[] = []
  const emit = (update: { content?: typeof parts }) => (parts = update.content ?? parts)
  const aggregator = new RunAggregator({ emit, logger: {}, showThinking: false })
  for (const event of events) aggregator.handle(event)

  const found = parts.find(({ type }) => type === 'tool-call')
  expect(found?.mcp?.app).toEqual({ resourceUri: 'ui://weather/view.html', serverId: expect.any(String) })
  expect(found?.result).toMatchObject({ structuredContent: expect.anything() })
  const serverHash = found?.mcp?.app.serverId
  expect(await ask(app.url, { serverHash }, 'resources/read', { uri: 'ui://weather/view.html' })).toMatchObject({
    contents: [{ uri: 'ui://weather/view.html' }],
  })
})

test('the activity of a tool with a page is kept, and shown once to each reader', async () => {
  await using app = await openWeather()

  const events = await send(app.url, say('the weather, please'))

  const [shown] = appsIn(events)
  expect(shown?.content).toEqual({
    resourceUri: 'ui://weather/view.html',
    serverHash: shown?.messageId,
    server: 'weather',
    agent: 'harbour',
    toolCallId: expect.any(String),
    toolInput: { city: 'Hamburg' },
    result: {
      content: [{ type: 'text', text: 'Fine in Hamburg.' }],
      structuredContent: { city: 'Hamburg', degrees: 21 },
      _meta: { secretOfThePage: 'only for the page' },
      isError: false,
    },
  })
  expect(appsIn(events)).toHaveLength(1)
  const result = events.find(({ type }) => type === 'TOOL_CALL_RESULT')
  expect(JSON.stringify(result)).not.toContain('only for the page')
  const [snapshot] = (await send(app.url, {})).filter(({ type }) => type === 'MESSAGES_SNAPSHOT')
  expect(appsIn(snapshot?.messages as Event[])).toEqual([
    expect.objectContaining({ id: shown?.messageId, content: shown?.content }),
  ])
})

test('the model is told of no tool that only apps may call', async () => {
  await using app = await openWeather()
  await showWeather(app.url)

  const { sessions } = app.engine
  const session = await sessions.get('local_user', 'thread')
  const steps = (await sessions.entries(session.id, 0, 100)).filter(({ data }) => data.includes('"STEP_STARTED"'))
  const sent = await sessions.readStep(session, steps[0]?.seq ?? 0)
  expect(sent.request?.tools.map(({ name }) => name)).toEqual(['ask_model', 'show_weather'])
})

test('an app reads its page, and nothing that is not at ui://', async () => {
  await using app = await openWeather({ page: '<h1>Weather</h1>' })
  const weather = await showWeather(app.url)

  expect(await ask(app.url, weather, 'resources/read', { uri: 'ui://weather/view.html' })).toEqual({
    contents: [
      {
        uri: 'ui://weather/view.html',
        mimeType: 'text/html;profile=mcp-app',
        text: '<h1>Weather</h1>',
        _meta: { ui: { csp: { connectDomains: ['https://api.example.org'] } } },
      },
    ],
  })
  expect(await ask(app.url, weather, 'resources/read', { uri: 'file:///private' })).toEqual({
    error: 'An app may read resources at ui:// only.',
  })
  expect(await ask(app.url, weather, 'prompts/list', {})).toEqual({
    error: 'An app may send resources/read and tools/call.',
  })
})

test('an app calls the tools that are for apps, with arguments that fit; the trail has it', async () => {
  await using app = await openWeather()
  const weather = await showWeather(app.url)

  expect(await call(app.url, weather, 'refresh')).toMatchObject({
    structuredContent: { city: 'Kiel', degrees: 22 },
    // What our client tells servers.
    _meta: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } },
  })
  expect(await call(app.url, weather, 'ask_model')).toEqual({ error: 'Apps may not call the tool ask_model.' })
  expect(await call(app.url, weather, 'rm')).toEqual({ error: 'The server weather has no such tool now.' })
  expect(await call(app.url, weather, 'refresh', 7)).toEqual({
    error: expect.stringContaining('The arguments do not fit'),
  })
  expect(await app.calls()).toBe('refresh Kiel\n')
  const trail = await fetch(`${app.url}/audit`, { headers: app.asOperator })
  const { entries } = (await trail.json()) as { entries: { tool: string; kind: string }[] }
  const kinds = entries.filter(({ tool }) => tool === 'refresh').map(({ kind }) => kind)
  expect(kinds.toSorted()).toEqual(['call_finished', 'call_started'])
})

test('an app gets around no approval and no policy', async () => {
  await using app = await openWeather({ server: 'tools: { drop_city: { approval: always } }' })
  const weather = await showWeather(app.url)

  expect(await call(app.url, weather, 'drop_city')).toEqual({
    error: expect.stringContaining('needs a person’s approval'),
  })
  expect(await app.calls()).toBe('')
})

test('an app is served only where it was shown', async () => {
  await using app = await openWeather()
  const weather = await showWeather(app.url)
  const elsewhere = { error: 'This session shows no such app.' }

  const params = { name: 'refresh', arguments: { city: 'Kiel' } }
  expect(await ask(app.url, weather, 'tools/call', params, { threadId: 'another' })).toEqual(elsewhere)
  await send(app.url, { ...say('hello'), threadId: 'another' })
  expect(await ask(app.url, weather, 'tools/call', params, { threadId: 'another' })).toEqual(elsewhere)
  expect(await ask(app.url, { serverHash: 'weather' }, 'tools/call', params)).toEqual(elsewhere)
  expect(await app.calls()).toBe('')
})

test('over REST an app acts for the owner of its session; an operator only looks, and others see nothing', async () => {
  await using app = await openWeather()
  const [ada, bob] = [await app.as('ada'), await app.as('bob')]
  const post = (path: string, body: object, headers: object) =>
    fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  await (await post('/', { threadId: 'hers', runId: 'r', ...say('the weather, please') }, ada)).text()
  const { id } = await app.engine.sessions.get('ada', 'hers')
  const [shown] = (await app.engine.messages.page(id, 10, { asides: true })).filter(({ role }) => role === 'activity')
  const asks = async (method: string, params: object, headers: object) => {
    const answer = await post(`/sessions/${id}/apps`, { app: shown?.id, method, params }, headers)
    const { code, result } = (await answer.json()) as { code?: string; result?: object }
    return code ?? Object.keys(result ?? {})
  }
  const page = { uri: 'ui://weather/view.html' }
  const refresh = { name: 'refresh', arguments: { city: 'Kiel' } }

  expect(await asks('resources/read', page, ada)).toEqual(['contents'])
  expect(await asks('tools/call', refresh, ada)).toEqual(['content', 'structuredContent', '_meta', 'isError'])
  expect(await asks('resources/read', page, app.asOperator)).toEqual(['contents'])
  expect(await asks('tools/call', refresh, app.asOperator)).toBe('forbidden')
  expect(await asks('resources/read', page, bob)).toBe('session_not_found')
  expect(await asks('prompts/list', {}, ada)).toBe('invalid_request')
  expect(await app.calls()).toBe('refresh Kiel\n')
})
