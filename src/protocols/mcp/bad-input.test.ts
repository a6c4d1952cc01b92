// What agents elsewhere send that is wrong, at the real door and with the real service behind it: each gets an error of its own that says what
// to do, nothing is written, and the session goes on.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentToken, operatorToken } from '../../http/testing/server-fixture.ts'
import { openSupervisedDoors } from '../testing/open-supervised-doors.ts'
import { createAgentTools } from './agent-tools.ts'
import { messagesIn, openMcpDoor, otherAgentToken } from './testing/open-mcp-door.ts'

type Answer = Record<string, unknown>

const VERSION = '2026-07-28'
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const bodyOf = (name: string, args: unknown, meta: object = modernMeta) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
})
const headersOf = (name: string) => ({ 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'tools/call', 'Mcp-Name': name })

async function openAgentDoor() {
  const doors = await openSupervisedDoors()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-bad-input-')))
  onTestFinished(async () => {
    await doors[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  const [workspace, elsewhere] = [join(folder, 'shop'), join(folder, 'site')]
  for (const path of [workspace, elsewhere, join(workspace, 'src')]) mkdirSync(path)
  writeFileSync(join(folder, 'secret.txt'), 'secret\n')
  writeFileSync(join(workspace, 'file.txt'), 'one\ntwo\n')
  symlinkSync(folder, join(workspace, 'way-out'))
  symlinkSync(join(folder, 'secret.txt'), join(workspace, 'link.txt'))
  const mine = { ...agentToken, workspace }
  const tokens = [mine, { ...otherAgentToken, workspace: elsewhere }, operatorToken]
  const door = await openMcpDoor({
    door: { tools: createAgentTools(doors.elsewhere.service) },
    server: { auth: { tokens: () => tokens } },
  })

  /** Calls a tool in the modern era. Gives what the model reads. */
  async function call(tool: string, input: unknown, token = mine.token): Promise<Answer> {
    const answer = await door.post(bodyOf(tool, input), { ...headersOf(tool), Authorization: `Bearer ${token}` })
    const [first] = messagesIn(await answer.text())
    const { result } = (first?.message ?? {}) as { result?: { structuredContent: Answer } }
    return result?.structuredContent ?? { status: answer.status }
  }

  /** Everything that could have been harmed. */
  async function look() {
    const sessions = await doors.elsewhere.sessions.list({ limit: 10 })
    return {
      files: readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted(),
      texts: [readFileSync(join(workspace, 'file.txt'), 'utf8'), readFileSync(join(folder, 'secret.txt'), 'utf8')],
      sessions: sessions.map(({ id, owner, supervision: { status, progressSnapshot } }) => ({
        id,
        owner,
        status,
        progressSnapshot,
      })),
      waiting: await doors.store.waits.list({ isWaiting: true, limit: 10 }),
    }
  }

  return { ...door, doors, workspace, call, look }
}

/** Sends each bad input to a session that works. Nothing but the answer may tell the difference. */
async function tryEach(
  cases: Readonly<Record<string, (door: Awaited<ReturnType<typeof openAgentDoor>>) => Promise<unknown>>>,
): Promise<Record<string, unknown>> {
  const door = await openAgentDoor()
  const progress_snapshot = [{ label: 'Read the code', status: 'done' }]
  const { session_id } = await door.call('heartbeat', { progress_snapshot })
  const before = await door.look()
  const answers: Record<string, unknown> = {}
  for (const [name, send] of Object.entries(cases)) {
    answers[name] = await send(door)
    expect([name, await door.look()]).toEqual([name, before])
  }
  expect(await door.call('heartbeat', {})).toMatchObject({ acknowledged: true, session_id })
  return answers
}

/** The inputs of a table, each for one call of a tool, and the errors that are wanted. */
async function expectErrors(
  table: readonly (readonly [string, string, object, string, RegExp | string])[],
): Promise<void> {
  const answers = await tryEach(
    Object.fromEntries(table.map(([name, tool, input]) => [name, ({ call }) => call(tool, input)])),
  )
  expect(answers).toMatchObject(Object.fromEntries(table.map(([name, , , code, words]) => [name, error(code, words)])))
}

const error = (code: string, message: RegExp | string) => ({
  status: 'error',
  error_code: code,
  error_message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
})

describe('a request that is not what the protocol says', () => {
  const rpc = async (answer: Response) => {
    const text = await answer.text()
    const body = text.startsWith('{') ? JSON.parse(text) : messagesIn(text)[0]?.message
    return [answer.status, body.error?.code, body.error?.message]
  }

  const table: [string, unknown, Record<string, string>, unknown[]][] = [
    ['broken JSON', '{"jsonrpc":"2.0",', {}, [400, -32700, expect.stringMatching(/JSON/)]],
    ['no JSON-RPC', '{"method":"tools/call"}', {}, [400, -32600, expect.any(String)]],
    ['an unknown tool', bodyOf('rm_rf', {}), headersOf('rm_rf'), [200, -32602, expect.stringContaining('rm_rf')]],
    [
      'an unknown method',
      { ...bodyOf('heartbeat', {}), method: 'tools/destroy' },
      { ...headersOf('heartbeat'), 'Mcp-Method': 'tools/destroy' },
      [404, -32601, expect.any(String)],
    ],
    [
      'the legacy era without a session',
      bodyOf('heartbeat', {}, {}),
      {},
      [400, -32600, expect.stringMatching(/session|initialize/i)],
    ],
    [
      'an era that nobody knows',
      bodyOf('heartbeat', {}, { ...modernMeta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
      { ...headersOf('heartbeat'), 'MCP-Protocol-Version': '2099-01-01' },
      [400, -32022, expect.stringContaining('2099-01-01')],
    ],
    [
      'a header that names another tool',
      bodyOf('accept_diff', { request_id: 'x' }),
      headersOf('heartbeat'),
      [400, -32020, expect.any(String)],
    ],
    [
      'a diff of 12 MB',
      bodyOf('ask_approval', { title: 'Big', file_path: 'big.txt', diff: 'x'.repeat(12_000_000) }),
      headersOf('ask_approval'),
      [413, -32000, expect.stringMatching(/MB|bytes|large/i)],
    ],
  ]

  test('gets an error of JSON-RPC', async () => {
    const answers = await tryEach(
      Object.fromEntries(
        table.map(([name, body, headers]) => [name, async ({ post }) => rpc(await post(body, headers))]),
      ),
    )
    expect(answers).toEqual(Object.fromEntries(table.map(([name, , , expected]) => [name, expected])))
  })

  test('a workspace that is not the token’s', async () => {
    const { answer } = await tryEach({
      answer: async ({ url, workspace }) => {
        const place = `${url}?workspace=${encodeURIComponent(join(workspace, '..'))}`
        const headers = {
          Authorization: `Bearer ${agentToken.token}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headersOf('heartbeat'),
        }
        return rpc(await fetch(place, { method: 'POST', headers, body: JSON.stringify(bodyOf('heartbeat', {})) }))
      },
    })
    expect(answer).toEqual([403, -32000, expect.stringContaining('which this token is bound to')])
  })
})

describe('a path that leads elsewhere', () => {
  const paths: [string, string, string][] = [
    ['up', '../secret.txt', 'cannot be used'],
    ['up from inside', 'src/../../secret.txt', 'cannot be used'],
    ['an absolute path', '/etc/passwd', 'must be relative to the workspace'],
    ['a folder that is a link', 'way-out/secret.txt', 'cannot be used'],
    ['a file that is a link', 'link.txt', 'symbolic link'],
    ['NUL', 'file.txt\0.png', 'NUL'],
    ['a drive', 'C:/Windows/win.ini', 'colon'],
    ['backslashes', '..\\secret.txt', 'backslash'],
    ['a home folder', '~/.bashrc', '~ is not expanded'],
    ['text that runs backwards', 'src/\u202etxt.exe', 'cannot see'],
    ['a character without width', 'src/a\u200bb.txt', 'cannot see'],
    ['the workspace itself', '.', 'Name a file'],
    ['a folder', 'src', 'folder'],
    ['a name that is too long', `${'x'.repeat(300)}.txt`, 'cannot be used'],
  ]

  test('is refused, and nothing is read or written there', async () => {
    await expectErrors(
      paths.map(([name, file_path, words]) => {
        return [name, 'ask_approval', { title: 'A change', diff: 'new', file_path }, 'path_violation', words]
      }),
    )
  })
})

const patch = (name: string, hunk = '@@ -1,2 +1,2 @@\n one\n-two\n+three\n') => `--- a/${name}\n+++ b/${name}\n${hunk}`
const change = { title: 'A change', file_path: 'file.txt', diff: 'three\n' }

describe('a question that cannot be asked', () => {
  const changes: [string, object, string, RegExp | string][] = [
    ['a diff for another file', { ...change, diff: patch('other.txt') }, 'invalid_diff', /other\.txt/],
    ['a patch without hunks', { ...change, diff: patch('file.txt', '') }, 'invalid_diff', /hunk|nothing|@@/i],
    [
      'a patch that does not fit',
      { ...change, diff: patch('file.txt', '@@ -1,2 +1,2 @@\n one\n-zwei\n+three\n') },
      'patch_conflict',
      /file\.txt|line/,
    ],
    [
      'a patch that renames',
      { ...change, diff: `diff --git a/file.txt b/new.txt\nrename from file.txt\nrename to new.txt\n` },
      'invalid_diff',
      /./,
    ],
    ['a change that changes nothing', { ...change, diff: 'one\ntwo\n' }, 'invalid_diff', /nothing|already/i],
    ['more than 5 MB', { ...change, diff: 'x'.repeat(5 * 1024 * 1024 + 1) }, 'invalid_diff', '5 MB'],
    ['a text that is absurdly long', { ...change, diff: 'x'.repeat(6_000_001) }, 'invalid_input', 'diff'],
    ['no title', { ...change, title: ' \t' }, 'invalid_input', 'title'],
    ['no diff', { title: 'A change', file_path: 'file.txt' }, 'invalid_input', 'diff'],
    ['no path', { title: 'A change', diff: 'x' }, 'invalid_input', 'file_path'],
    ['a risk that is none', { ...change, risk_level: 'none' }, 'invalid_input', 'risk_level'],
    ['a number as title', { ...change, title: 7 }, 'invalid_input', 'title'],
    ['a key that is unknown', { ...change, approve: true }, 'invalid_input', 'approve'],
    ['an id that is none', { request_id: '../../etc/passwd' }, 'request_not_found', 'etc'],
  ]

  test('about a change', async () => {
    await expectErrors(changes.map(([name, input, code, words]) => [name, 'ask_approval', input, code, words]))
  })

  const others: [string, string, object, string][] = [
    ['an empty prompt', 'forward_prompt', { prompt_text: '' }, 'prompt_text'],
    ['a prompt that is too long', 'forward_prompt', { prompt_text: 'x'.repeat(10_001) }, '10000'],
    ['a type of prompt that is none', 'forward_prompt', { prompt_text: 'Go on?', prompt_type: 'order' }, 'prompt_type'],
    ['a wait that ends before it begins', 'wait_for_instruction', { timeout_seconds: -1 }, 'timeout_seconds'],
    ['a message that is too long', 'remote_log', { message: 'x'.repeat(4_001) }, 'message'],
    ['a mode that is none', 'set_operational_mode', { mode: 'silent' }, 'mode'],
    ['progress that is no list', 'heartbeat', { progress_snapshot: 'all done' }, 'progress_snapshot'],
    ['too much progress', 'heartbeat', { progress_snapshot: Array(101).fill({ label: 'x', status: 'done' }) }, '100'],
    ['progress without a status', 'heartbeat', { progress_snapshot: [{ label: 'x' }] }, 'status'],
  ]

  test('or a report that says nothing', async () => {
    await expectErrors(others.map(([name, tool, input, words]) => [name, tool, input, 'invalid_input', words]))
  })
})

describe('what belongs to somebody else', () => {
  const asOther = otherAgentToken.token

  test('the session of another token', async () => {
    const { answer } = await tryEach({
      answer: async ({ call, look }) => {
        const [mine] = (await look()).sessions
        return call(
          'heartbeat',
          { session_id: mine?.id, progress_snapshot: [{ label: 'Gone', status: 'done' }] },
          asOther,
        )
      },
    })
    expect(answer).toMatchObject(error('session_not_found', 'session'))
  })

  test('questions of another owner are answered as if there were none', async () => {
    const { call, doors, look } = await openAgentDoor()
    const asking = [
      call('ask_approval', change),
      call('forward_prompt', { prompt_text: 'Go on?' }),
      call('wait_for_instruction', { message: 'What now?' }),
    ]
    await expect.poll(async () => (await look()).waiting.length, { timeout: 60_000 }).toBe(3)
    const { waiting, files } = await look()
    const idOf = (kind: string) => waiting.find(({ wait }) => wait === kind)?.id ?? ''
    const session = waiting[0]?.sessionId ?? ''

    const answers = await Promise.all([
      call('accept_diff', { request_id: idOf('approval') }, asOther),
      call('ask_approval', { request_id: idOf('approval') }, asOther),
      call('forward_prompt', { prompt_id: idOf('prompt') }, asOther),
      call('wait_for_instruction', { wait_id: idOf('standby') }, asOther),
      call('recover_state', { session_id: session }, asOther),
    ])

    expect(answers.map(({ error_code }) => error_code)).toEqual([
      ...['request_not_found', 'request_not_found', 'request_not_found', 'request_not_found', 'request_not_found'],
    ])
    // Nor may the agent itself write what nobody has approved.
    const own = { request_id: idOf('approval'), force: true, session_id: session }
    expect(await call('accept_diff', own)).toMatchObject(error('not_approved', 'Nobody has approved this yet'))
    expect((await look()).waiting.map(({ id, status }) => [id, status])).toEqual(
      waiting.map(({ id, status }) => [id, status]),
    )
    expect((await look()).files).toEqual(files)
    await doors.elsewhere.sessions.terminate({ user: 'operator', role: 'operator' }, session)
    await Promise.all(asking)
  })

  test('an agent’s token decides nothing', async () => {
    const { doors, url } = await openAgentDoor()
    const { id } = await doors.ask()

    for (const path of [`/prompts/${id}`, `/approvals/${id}`, '/inbox', '/tokens']) {
      const answer = await fetch(url.replace('/mcp', path), {
        method: 'POST',
        headers: { Authorization: `Bearer ${agentToken.token}`, 'Content-Type': 'application/json' },
        body: '{"decision":"continue"}',
      })
      expect([403, 404]).toContain(answer.status)
    }
    const answer = await doors.post(
      `/prompts/${id}`,
      { decision: 'continue' },
      { Authorization: `Bearer ${agentToken.token}` },
    )
    expect(answer.status).toBe(403)
    expect(await doors.store.waits.get(id)).toMatchObject({ status: 'pending' })
  })
})

describe('what is strange and still a question', () => {
  test('control characters in the agent’s words are shown as what they are', async () => {
    const { call, doors, look } = await openAgentDoor()
    const title = 'Fix \u001b[2J\u001b[31mtypo\u202e \u0007'
    const asking = call('ask_approval', { ...change, title, description: 'a\u0000b' })
    await expect.poll(async () => (await look()).waiting.length, { timeout: 60_000 }).toBe(1)

    const [asked] = (await look()).waiting
    expect(asked).toMatchObject({
      title: 'Fix <U+001B>[2J<U+001B>[31mtypo<U+202E> <U+0007>',
      description: 'a<U+0000>b',
    })
    await doors.elsewhere.sessions.terminate({ user: 'operator', role: 'operator' }, asked?.sessionId ?? '')
    expect(await asking).toMatchObject({ status: 'cancelled' })
  })

  test('a policy that is no JSON allows nothing', async () => {
    const { call, doors, look, workspace } = await openAgentDoor()
    mkdirSync(join(workspace, '.quarterdeck'))
    writeFileSync(
      join(workspace, '.quarterdeck', 'policy.json'),
      '{"enabled": true, "file_patterns": {"write": ["**"]}',
    )

    const checked = await call('check_auto_approve', { tool_name: 'Write', context: { file_path: 'file.txt' } })
    expect(checked).toMatchObject({ auto_approved: false, matched_rule: null })
    const asking = call('ask_approval', change)
    await expect.poll(async () => (await look()).waiting.length, { timeout: 60_000 }).toBe(1)
    const [asked] = (await look()).waiting
    expect(asked).toMatchObject({ wait: 'approval', kind: 'diff', status: 'pending' })
    await doors.elsewhere.sessions.terminate({ user: 'operator', role: 'operator' }, asked?.sessionId ?? '')
    await asking
  })
})
