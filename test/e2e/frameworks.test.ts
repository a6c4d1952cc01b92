// Quarterdeck inside programs with common frameworks. The example, and the code of docs/do/embed-in-your-server.md.

import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { HttpAgent } from '@ag-ui/client'
import compression from 'compression'
import express from 'express'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serve as serveExpress } from '../../examples/express/server.ts'
import { createQuarterdeck } from '../../src/app/create-quarterdeck.ts'
import { type Client, createClient } from '../../src/client/client.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import { collectLines, type LogLine, until } from '../../src/http/testing/server-fixture.ts'
import { serve as serveFastify } from './frameworks/fastify.ts'
import { serve as serveHono } from './frameworks/hono.ts'

const json = { 'content-type': 'application/json' }
/** Far more words than a test waits for. */
const LONG = 'count 500'

// Hono's server replaces these for the whole process, which other test files share.
const replaced = (['Request', 'Response'] as const).map(
  (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name) ?? {}] as const,
)
afterAll(() => {
  for (const [name, descriptor] of replaced) Object.defineProperty(globalThis, name, descriptor)
})

describe.each([
  ['Express', serveExpress],
  ['Fastify', serveFastify],
  ['Hono', serveHono],
])('in %s', (_name, serve) => {
  const lines: LogLine[] = []
  let url: string
  let client: Client
  let end: () => Promise<void>

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-frameworks-'))
    const settings = { data_dir: join(folder, 'data'), 'limits.disconnect_grace': '0s' }
    const { server, close } = await serve(0, {
      settings,
      env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
      log: collectLines(lines),
    })
    const { port } = server.address() as AddressInfo
    url = `http://127.0.0.1:${port}`
    client = createClient({ url: `${url}/agent` })
    end = async () => {
      await close()
      await rm(folder, { recursive: true })
    }
  })
  afterAll(() => end())

  async function ask(path: string, init: RequestInit = {}) {
    const response = await fetch(url + path, init)
    return { status: response.status, headers: response.headers, body: await response.text() }
  }

  test('the routes, pages and headers are under the base path, and the rest is the program’s', async () => {
    const health = await ask('/agent/health')
    expect([health.status, JSON.parse(health.body).status]).toEqual([200, 'healthy'])
    expect((await ask('/')).body).toBe('The agent is at /agent/')
    const html = { accept: 'text/html' }
    for (const path of ['/agent', '/agent/']) {
      const { status, headers } = await ask(path, { headers: html, redirect: 'manual' })
      expect([path, status, headers.get('location')]).toEqual([path, 302, '/agent/console/'])
    }
    const docs = await ask('/agent/docs', { headers: html })
    expect([docs.status, docs.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const { port } = new URL(url)
    const moved = await ask('/agent/console/inbox?x=1', { headers: html, redirect: 'manual' })
    expect(moved.headers.get('location')).toBe(`http://localhost:${port}/agent/console/inbox?x=1`)

    const sent = await ask('/agent/sessions/job/messages', { method: 'POST', headers: json, body: '{"message":"hi"}' })
    const { run_id } = JSON.parse(sent.body)
    expect([sent.status, sent.headers.get('location')]).toEqual([202, `/agent/runs/${run_id}`])
    await client.cancel(run_id)
  })

  test('failures have our shape', async () => {
    const missing = await ask('/agent/nowhere')
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    expect(JSON.parse(missing.body)).toMatchObject({ code: 'route_not_found', instance: '/agent/nowhere' })
    const broken = await ask('/agent/v1/chat/completions', { method: 'POST', headers: json, body: '{' })
    expect([broken.status, JSON.parse(broken.body).error.code]).toEqual([400, 'malformed_json'])
    const stranger = await ask('/agent/health', { headers: { origin: 'https://evil.example' } })
    expect([stranger.status, JSON.parse(stranger.body).code]).toEqual([403, 'origin_not_allowed'])
  })

  test('requests that may come from other machines need a token', async () => {
    const proxied = await ask('/agent/sessions', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect([proxied.status, JSON.parse(proxied.body).code]).toEqual([401, 'unauthorized'])
    expect((await ask('/agent/health', { headers: { 'x-forwarded-for': '203.0.113.9' } })).status).toBe(200)
  })

  test('AG-UI’s client gets its answer', async () => {
    const agent = new HttpAgent({ url: `${url}/agent/`, threadId: 'embedded' })
    agent.addMessage({ id: 'm1', role: 'user', content: 'count 3' })
    await agent.runAgent()
    expect(agent.messages.at(-1)?.content).toMatch(/^1, 2, 3/)
  })

  test('an answer streams while it is generated, and the run stops when its reader leaves', async () => {
    const body = JSON.stringify({ message: LONG })
    const path = `${url}/agent/agent/clerk/chat/stream`
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      send(path, { method: 'POST', headers: json }, resolve).once('error', reject).end(body)
    })
    let seen = ''
    for await (const chunk of response) {
      seen += chunk
      // The answer has hundreds of words. The first ones are here, so nothing holds the stream back.
      if (seen.includes('message_delta')) break
    }
    const id = /"message_id":"([^"]+)"/.exec(seen)?.[1] ?? ''
    expect([response.statusCode, seen.includes('stream_end')]).toEqual([200, false])
    await until(() => lines.some(({ message, cut }) => message === 'request' && cut === true))
    // Without following its events: a reader would keep the run alive.
    let run = await client.run(id)
    while (run.status === 'running') run = await client.run(id)
    expect(run.status).toBe('cancelled')
  })

  test('files are uploaded and fetched again', async () => {
    const content = 'A line of text.\n'.repeat(20_000)
    const file = await client.upload(new Blob([content], { type: 'text/plain' }), { name: 'notes.txt' })
    expect([file.name, file.bytes]).toEqual(['notes.txt', content.length])
    expect(await (await client.download(file)).text()).toBe(content)
  })

  test('a client that waits to be told to send its body is told once', async () => {
    const body = '{"message":"hi"}'
    let told = 0
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...json, expect: '100-continue', 'content-length': body.length }
      const request = send(`${url}/agent/sessions/patient/messages`, { method: 'POST', headers }, resolve)
      request.once('error', reject)
      request.on('continue', () => {
        told += 1
        request.end(body)
      })
      request.flushHeaders()
    })
    expect([answer.statusCode, told]).toEqual([202, 1])
    await client.cancel(JSON.parse(await text(answer)).run_id)
  })

  test('closing ends open streams, and later requests are refused', async () => {
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}/agent/sessions/job/events`, resolve).once('error', reject)
    })
    const closing = end()
    expect(await text(stream)).toMatch(/^: ok\n/)
    await closing
    end = async () => {}
  })
})

test('mounted by path and behind compression, streams are not held back and files arrive whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-compression-'))
  const quarterdeck = createQuarterdeck({
    agent: join(import.meta.dirname, '../../examples/express/agent.yaml'),
    basePath: '/agent',
    settings: { data_dir: join(folder, 'data') },
    env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    log: silentLogger,
  })
  const app = express().use('/agent', compression({ threshold: 0 }), quarterdeck.handler)
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    await quarterdeck.close({ drainMs: 0 })
    server.close()
    await rm(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`
  const client = createClient({ url })

  // `fetch` accepts gzip.
  const health = await fetch(`${url}/health`)
  expect([health.headers.get('content-encoding'), await health.json()]).toMatchObject(['gzip', { status: 'healthy' }])
  const content = 'A line of text.\n'.repeat(20_000)
  const file = await client.upload(new Blob([content]), { name: 'notes.txt' })
  expect(await (await client.download(file)).text()).toBe(content)
  for await (const event of client.stream('clerk', LONG)) if (event.type === 'message_delta') break
})
