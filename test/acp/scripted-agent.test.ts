import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type ClientContext, client, methods, ndJsonStream, type SessionNotification } from '@agentclientprotocol/sdk'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string
const children = new Set<ReturnType<typeof spawn>>()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scripted-agent-'))
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  rmSync(folder, { recursive: true, force: true })
})

/** The agent as a process, and a client that answers each permission with the next option id. */
async function start(flags: readonly string[] = [], answers: readonly string[] = []) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'scripted-agent.ts'), ...flags], {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.add(child)
  const errors: string[] = []
  child.stderr.on('data', (text) => errors.push(String(text)))
  const updates: SessionNotification[] = []
  const questions: unknown[] = []
  const { agent } = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      questions.push(params)
      const optionId = answers[questions.length - 1]
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } }
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => void questions.push(params))
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>))
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
  })
  return { child, agent, hello, updates, questions, errors, said: () => texts(updates) }
}

const texts = (updates: readonly SessionNotification[]): string[] =>
  updates.flatMap(({ update }) =>
    update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
  )

const open = (agent: ClientContext) => agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })

/** Until a tool call is completed. */
const finished = ({ updates }: { updates: readonly SessionNotification[] }) =>
  expect.poll(() => updates.some(({ update }) => 'status' in update && update.status === 'completed')).toBe(true)

const ask = (agent: ClientContext, sessionId: string, text: string) =>
  agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })

test('does what the lines of the prompt say, and writes only what it may', async () => {
  const { agent, questions, said } = await start([], ['yes', 'no'])
  const { sessionId } = await open(agent)
  const script = [
    'Some prose.',
    'ask-write a.txt one\\ntwo',
    'ask-write b.txt never',
    'client-write c.txt three',
    'cat a.txt',
    'cat b.txt',
    'env HOME',
  ].join('\n')

  expect(await ask(agent, sessionId, script)).toEqual({ stopReason: 'end_turn' })
  expect(said()).toEqual(['wrote c.txt', 'one\ntwo', 'cat b.txt: ENOENT', `HOME=${folder}`])
  expect(questions).toHaveLength(3)
  expect(questions[0]).toMatchObject({
    toolCall: {
      toolCallId: 'call-1',
      name: 'Write',
      kind: 'edit',
      rawInput: { file_path: join(folder, 'a.txt'), content: 'one\ntwo' },
    },
    options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }],
  })
  expect(questions[2]).toEqual({ sessionId, path: join(folder, 'c.txt'), content: 'three' })
})

test('asks again for what was decided before it was killed', async () => {
  const first = await start([], ['yes-always'])
  const { sessionId } = await open(first.agent)
  const cutOff = ask(first.agent, sessionId, 'ask-write a.txt one\nhang')
  await finished(first)
  first.child.kill('SIGKILL')
  await expect(cutOff).rejects.toThrow()

  const second = await start([], ['yes'])
  const { agent } = second
  await agent.request(methods.agent.session.resume, { sessionId, cwd: folder })
  const end = ask(agent, sessionId, 'Go on.')
  await finished(second)
  await agent.notify(methods.agent.session.cancel, { sessionId })

  expect(await end).toEqual({ stopReason: 'cancelled' })
  expect(second.questions).toMatchObject([{ toolCall: { toolCallId: 'call-2' } }])
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one')
})

test('replays what was said where it offers session/load, and says that it cannot resume', async () => {
  const first = await start(['--offers', 'load'])
  const { sessionId } = await open(first.agent)
  await ask(first.agent, sessionId, 'say Hello.\nthink Hm.')

  const second = await start(['--offers', 'load'])
  await second.agent.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] })

  expect(second.hello.agentCapabilities).toEqual({ loadSession: true, sessionCapabilities: {} })
  expect(second.updates.map(({ update }) => update.sessionUpdate)).toEqual([
    'user_message_chunk',
    'agent_message_chunk',
    'agent_thought_chunk',
  ])
  await expect(second.agent.request(methods.agent.session.resume, { sessionId, cwd: folder })).rejects.toMatchObject({
    code: -32601,
  })
})

test('goes on working while a question waits, and ends as the client cancels', async () => {
  const { agent, said } = await start()
  const { sessionId } = await open(agent)

  expect(await ask(agent, sessionId, 'meanwhile ask-empty\nsay Meanwhile.')).toEqual({ stopReason: 'cancelled' })
  expect(said()).toEqual(['Meanwhile.'])
  expect(await ask(agent, sessionId, 'stop max_tokens')).toEqual({ stopReason: 'max_tokens' })
  expect(await ask(agent, sessionId, 'refuse')).toEqual({ stopReason: 'refusal' })
  await expect(ask(agent, sessionId, 'fail No luck.')).rejects.toMatchObject({ code: -32603, message: 'No luck.' })
})

test('misbehaves on demand', async () => {
  const { agent, child, updates, errors, said } = await start(['--protocol', '7', '--offers', ''])
  const { sessionId } = await open(agent)
  await ask(agent, sessionId, 'broken-json\nforeign-update\nunknown-method\ncalls 3\nflood 100000\nsay Still here.')

  expect(said().map((text) => text.slice(0, 40))).toEqual([
    'For another session.',
    'error -32601: "Method not found": sessio',
    'x'.repeat(40),
    'x'.repeat(40),
    'Still here.',
  ])
  expect(updates.filter(({ update }) => update.sessionUpdate === 'tool_call')).toHaveLength(3)
  await expect(ask(agent, sessionId, 'die Last words.')).rejects.toThrow()
  await expect.poll(() => child.exitCode).toBe(1)
  expect(errors.at(-1)).toBe('Last words.\n')
})

test('wants a key where it is told so', async () => {
  const { agent, hello } = await start(['--auth'])

  expect(hello.authMethods).toEqual([{ id: 'key', name: 'Set SCRIPTED_AGENT_KEY' }])
  await expect(open(agent)).rejects.toMatchObject({ code: -32000 })
})
