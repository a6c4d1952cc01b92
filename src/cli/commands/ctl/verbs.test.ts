import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Approval } from '../../../domain/records/record.ts'
import { exampleOf } from '../../../http/describe-answer.ts'
import { reservedVerbs } from '../../../operators/commands/verbs.ts'
import { findCtlPlace } from '../../../operators/ctl/socket.ts'
import { GrantSchema } from '../../../protocols/manage/approvals/schema.ts'
import { MemorySchema } from '../../../protocols/manage/memories/schema.ts'
import { ErasedUserSchema } from '../../../protocols/manage/users/schema.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { createCtlCommand } from './ctl.ts'
import {
  DIFF,
  descriptor,
  elsewhere,
  exampleCheckpoint,
  exampleResult,
  ids,
  listed,
  openSocketServer,
  Refusal,
  records,
  sent,
  supervision,
  usual,
} from './testing/socket-server.ts'
import { setPassphrase } from './typed-secret.ts'

const ok = { ok: true }
const posts = (...paths: string[]) => Object.fromEntries(paths.map((path) => [`POST ${path}`, ok]))

test('no alias of the settings can have the name of a verb', () => {
  const names = createCtlCommand({ io: createTestIo(), settle() {} }).commands.map((one) => one.name())
  expect(names.filter((name) => !reservedVerbs.has(name))).toEqual([])
  expect(names.length).toBeGreaterThan(20)
})

describe('looking', () => {
  test('list shows the sessions and what waits, with the agent, the folder and the arguments of each', async () => {
    const server = await openSocketServer(usual)
    expect(await server.run('list')).toEqual({
      code: 0,
      err: '',
      out: `SESSION  STATUS  HOST         OWNER  TITLE  WORKSPACE
00aa     active  claude-code  ada    Shop   /home/ada/shop

WAITS  KIND                    RISK  SINCE (UTC)  AGENT        FOLDER          TASK  WHAT
0001   Change of a file        low   09:04:10     claude-code  /home/ada/shop  Shop  Change src/a.ts +1 −1 (Faster search)
0002   Tool of a host          high  09:04:10     claude-code  /home/ada/shop  Shop  Bash: rm -rf build
0003   Question from an agent        09:04:10     claude-code  /home/ada/shop  Shop  May it go on? (Shall I go on?)
0004   Agent stands by               09:04:10     claude-code  /home/ada/shop  Shop  What should it do next? (What next?)
0005   Silent agent                  08:59:09     claude-code  /home/ada/shop  Shop  Gone silent (after heartbeat)
`,
    })
    const json = JSON.parse((await server.run('list', '--json')).out)
    expect([json.sessions.length, json.waiting]).toEqual([1, Object.values(records).map((one) => listed(one))])
  })

  test('three refunds and three policies are told apart by agent, folder and arguments, in lists and on cards', async () => {
    const id = (n: number) => `0192f3b1-1111-7def-8abc-00000000000${n}`
    const ask = (n: number, agent: number, more: object) => {
      const record = { ...records.call, id: id(n), supervised: { ...elsewhere, host: `agent-${agent}` }, ...more }
      const place = { folder: `/srv/shop-${agent}` }
      return { id: id(n), item: listed(record, place), whole: sent(record, place) }
    }
    const refund = (n: number, agent: number, order: number, amount: number) =>
      ask(n, agent, {
        kind: 'tool_call',
        tool: 'refund',
        description: `order: ${order}\namount: ${amount}`,
        arguments: JSON.stringify({ order, amount }),
      })
    const policy = (n: number, agent: number, file = 'policy.json') =>
      ask(n, agent, { kind: 'policy', title: `Accept the policy ${file}` })
    const items = [refund(1, 1, 7, 100), refund(2, 1, 7, 1000), refund(3, 2, 7, 100)]
    items.push(policy(4, 1), policy(5, 2), policy(6, 2, 'other.json'))
    const server = await openSocketServer({
      'GET /inbox': { cursor: 'f.1', items: items.map(({ item }) => item) },
      'GET /sessions': [],
      ...Object.fromEntries(items.map((one) => [`GET /approvals/${one.id}`, one.whole])),
    })

    expect((await server.run('list')).out).toContain(`
0001   Tool call  high  09:04:10     agent-1  /srv/shop-1  Shop  refund (order: 7, amount: 100)
0002   Tool call  high  09:04:10     agent-1  /srv/shop-1  Shop  refund (order: 7, amount: 1000)
0003   Tool call  high  09:04:10     agent-2  /srv/shop-2  Shop  refund (order: 7, amount: 100)
0004   Policy     high  09:04:10     agent-1  /srv/shop-1  Shop  Accept the policy policy.json
0005   Policy     high  09:04:10     agent-2  /srv/shop-2  Shop  Accept the policy policy.json
0006   Policy     high  09:04:10     agent-2  /srv/shop-2  Shop  Accept the policy other.json
`)
    expect((await server.run('policy')).out).toContain(`
Policy  ${id(5)}  agent-2  /srv/shop-2
Accept the policy policy.json
`)
    // Without what differs anyway.
    const cards = await Promise.all(items.map(async (one) => (await server.run('show', one.id)).out))
    const told = cards.map((card) => card.replace(/^.*0192f3.*$/gm, ''))
    expect(new Set(told).size).toBe(6)
    expect(told[1]).toMatch(/\nagent {6}agent-1\nfolder {5}\/srv\/shop-1\n/)
    expect(told[1]).toContain('\n  order: 7\n  amount: 1000\n')
    expect(told[4]).toMatch(/\nagent {6}agent-2\nfolder {5}\/srv\/shop-2\n/)
  })

  test('looks at every page, also behind items that this version does not know', async () => {
    const page = (before: string | null) => {
      const items = Array.from({ length: before === null ? 100 : 1 }, (_, i) => {
        const id =
          before === null && i === 99 ? ids.other : `${ids.prompt.slice(0, -3)}${before === null ? 100 + i : 999}`
        const item = listed({ ...records.prompt, id })
        return before === null && i === 99 ? { ...item, kind: 'later' } : item
      })
      return { cursor: 'f.1', items }
    }
    const asked: string[] = []
    const server = await openSocketServer({
      ...usual,
      'GET /inbox': ({ path }: { path: string }, response: ServerResponse) => {
        const before = new URL(path, 'http://x').searchParams.get('before')
        asked.push(before ?? '')
        if (before === null) response.setHeader('link', '</inbox?limit=100&before=high.never.1.x>; rel="next"')
        return page(before)
      },
    })
    expect(JSON.parse((await server.run('list', '--json')).out).waiting).toHaveLength(100)
    expect(asked).toEqual(['', 'high.never.1.x'])
  })

  test('finds checkpoints on every page', async () => {
    const checkpoint = (n: number) => ({
      ...exampleCheckpoint,
      checkpoint_id: `0192f3c1-1111-7def-8abc-${String(n).padStart(12, '0')}`,
      session_id: ids.session,
      label: `number ${n}`,
      workspace_root: '/home/ada/shop',
      created_at: '2026-11-15T09:04:10.125Z',
    })
    const server = await openSocketServer({
      ...usual,
      'GET /checkpoints': ({ path }: { path: string }, response: ServerResponse) => {
        if (path.includes('before=')) return { checkpoints: [checkpoint(101)] }
        response.setHeader('link', '</checkpoints?before=1.x>; rel="next"')
        return { checkpoints: Array.from({ length: 100 }, (_, i) => checkpoint(i + 1)) }
      },
    })
    const oldest = checkpoint(101)
    expect(JSON.parse((await server.run('show', oldest.checkpoint_id, '--json')).out)).toEqual(oldest)
    expect(JSON.parse((await server.run('checkpoints', '--json')).out).checkpoints).toHaveLength(101)
  })

  test('without a verb and without a terminal it lists', async () => {
    const server = await openSocketServer({ 'GET /inbox': { items: [], cursor: 'f.1' }, 'GET /sessions': [] })
    expect(await server.run()).toEqual({ code: 0, err: '', out: 'No agent has an open session.\n\nNothing waits.\n' })
  })

  test('show prints the whole record, and nothing in it can touch the terminal', async () => {
    const change = records.diff.supervised?.change
    const record = {
      ...records.diff,
      title: 'Nice\x1b[2J\x1b]0;owned\x07 title\nApproved by ada',
      supervised: { ...elsewhere, change: change ? { ...change, path: 'src/\u0430\u202ets.exe' } : null },
    }
    const diff = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\u202e\x1b[1A${' '.repeat(300)}evil()\n`
    const server = await openSocketServer({ ...usual, [`GET /approvals/${ids.diff}`]: sent(record, { diff }) })
    const { out, code } = await server.run('show', '0192f3b1-1')
    expect(code).toBe(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(out).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f\u202e]/)
    expect(out).toContain('+two<U+202E><U+001B>[1A<U+0020×300>evil()')
    expect(out).toContain('Change src/<U+0430><U+202E>ts.exe')
    // The second line of the title stays inside the words of the agent.
    expect(out).toContain('\n  Approved by ada\n')
  })

  test('show finds sessions and checkpoints too', async () => {
    const server = await openSocketServer(usual)
    expect((await server.run('show', '0192f3a1')).out).toBe(`session_id          ${ids.session}
owner_user_id       ada
workspace_root      /home/ada/shop
status              active
host                claude-code
mode                remote
title               Shop
created_at          2026-11-15 09:00:00
updated_at          2026-11-15 09:04:10
nudge_count         0
stall_paused        false
stalls_enabled      true
time_zone           UTC
`)
    expect((await server.run('show', '0192f3c1')).out).toContain('created_at          2026-11-15 09:04:10\n')
    expect(JSON.parse((await server.run('show', '0192f3a1', '--json')).out)).toEqual(supervision)
    expect(JSON.parse((await server.run('show', '0192f3c1', '--json')).out)).toMatchObject({ label: 'before' })
    expect(await server.run('show', 'ffff')).toMatchObject({ code: 1, out: '' })
  })

  test.each([
    [['approve', '0192f3b1'], 2, '"0192f3b1" means several. Write the four characters'],
    [['approve', 'nope'], 1, 'Nothing waits under the id "nope".'],
    [
      ['approve', '0192f3b2'],
      2,
      '“approve” is not an answer to this: Question from an agent. It takes continue, refine, stop.',
    ],
    [['dismiss', '0192f3b2'], 2, 'It takes continue, refine, stop.'],
    [['edit', '0192f3b4'], 1, 'Editing needs a terminal'],
    [['answer', '0192f3b1-2', 'approve'], 2, 'This has a verb of its own: approve.'],
    [['answer', '0192f3b3', 'stop', 'it'], 2, 'stop takes no text.'],
    [['answer', '0192f3b2', 'maybe'], 2, 'It takes continue, refine, stop.'],
    [['answer', '0192f3b2', 'refine'], 2, 'refine needs a text: what to do instead.'],
    [['answer', '0192f3b2'], 2, 'It takes continue, refine, stop.'],
    [['answer', '0192f3b2', 'stop', '--set', 'a=b'], 2, '--set and --digest are for questions of tools'],
    [['mode', 'loud'], 2, '"loud" is not a mode. Write remote, local, hybrid.'],
    [['pause', '--session', 'ffff'], 1, 'There is no session "ffff".'],
    [['restore', 'ffff'], 1, 'There is no checkpoint "ffff".'],
    [['watch'], 2, 'watch needs a terminal.'],
    [['edit', '0192f3b1-1'], 1, 'Editing needs a terminal, and there is none.'],
    [['bogus'], 2, "unknown command 'bogus'"],
    [['aprove', '0192f3b1-1'], 2, "unknown command 'aprove'"],
    [['list', '--al'], 2, "unknown option '--al'"],
    [['stalls', 'maybe'], 2, '"maybe" is neither on nor off.'],
    [['task', 'x', '--session', 'a', '--workspace', 'b'], 2, 'Send --workspace or --session, not both.'],
    [['show', '0192f3b1-1', '--data-dir', '/nowhere/at/all'], 69, 'No server runs for'],
    [['approve'], 2, 'missing required argument'],
  ])('%j ends with %i and says why', async (args, exitCode, line) => {
    const server = await openSocketServer(usual)
    const { code, out, err } = await server.run(...args)
    expect([code, out, server.sent()]).toEqual([exitCode, '', []])
    expect(err.split('\n')[0]).toContain(line)
  })

  test('a server that does not run is named as such, before anybody types a token', async () => {
    const cwd = await tempFolder()
    const io = createTestIo({ cwd, terminal: true, stdin: new PassThrough() })
    expect(await main(['ctl'], io)).toBe(69)
    expect(io.complained()).toContain(`No server runs for ${join(cwd, '.quarterdeck')}`)
    // `ctl` alone has no flags, so the way out is one that it takes too.
    expect(io.complained()).toContain('name the folder of the one that runs: QUARTERDECK_DATA_DIR=<folder>.')
  })

  test.skipIf(process.platform === 'win32')('another server of the same folder is named', async () => {
    const cwd = await tempFolder()
    const env = { QUARTERDECK_CONFIG_DIR: join(cwd, 'config') }
    const [first, second] = [join(cwd, '.quarterdeck'), join(cwd, '.quarterdeck', 'replicas', '2')]
    mkdirSync(second, { recursive: true })
    const options = { env, configDir: env.QUARTERDECK_CONFIG_DIR, ipcName: null, platform: process.platform }
    const { path, runtimeDir } = findCtlPlace({ ...options, dataDir: second })
    mkdirSync(runtimeDir, { recursive: true })
    writeFileSync(path, '')
    const io = createTestIo({ cwd, env })

    expect(await main(['ctl', 'list', '--data-dir', first], io)).toBe(69)
    expect(io.complained()).toContain(`No server runs for ${first}`)
    expect(io.complained()).toContain(`Another server of this folder seems to run: QUARTERDECK_DATA_DIR=${second}`)
  })

  test('without a token it says where to get one', async () => {
    const server = await openSocketServer(usual)
    const io = createTestIo({ cwd: server.cwd })
    expect([await main(['ctl', 'list'], io), server.seen]).toEqual([1, []])
    expect(io.complained()).toContain('set QUARTERDECK_OPERATOR_TOKEN, or type it at a terminal')
  })

  test('asks for the token at a terminal, and says how to be asked no more', async () => {
    const server = await openSocketServer(usual)
    const stdin = new PassThrough()
    const io = createTestIo({ cwd: server.cwd, terminal: true, stdin })
    const done = main(['ctl', 'list'], io)
    await io.until('The operator’s token (it is not shown): ')
    expect(io.complained()).toContain('read -rs QUARTERDECK_OPERATOR_TOKEN && export QUARTERDECK_OPERATOR_TOKEN\n')
    stdin.write('typed-token\n')
    expect(await done).toBe(0)
    expect(io.complained()).not.toContain('typed-token')
  })

  test('a refusal of the server is one line', async () => {
    const server = await openSocketServer({
      'GET /inbox': new Refusal(401, { code: 'unauthorized', detail: 'The token\nis \x1b[31mwrong.' }),
      'GET /sessions': [],
    })
    expect(await server.run('list')).toEqual({
      code: 1,
      out: '',
      err: 'quarterdeck: The token is <U+001B>[31mwrong.\n',
    })
  })

  test('an answer that is not understood is an error, not a crash', async () => {
    const server = await openSocketServer({ ...usual, 'GET /inbox': { items: 7 } })
    expect(await server.run('list')).toMatchObject({ code: 1, out: '' })
  })
})

test('a task goes to a workspace by its id, where no session is open', async () => {
  const path = '/workspaces/shop/tasks'
  const server = await openSocketServer(posts(path))
  const { code, err } = await server.run('task', 'Write tests.', '--workspace', 'shop')
  const body = { text: 'Write tests.' }
  expect([code, err, server.sent()]).toEqual([0, '', [{ method: 'POST', path, body, passphrase: null }]])
})

describe('commands for a session', () => {
  test.each([
    [['pause'], '/pause', {}],
    [['stalls', 'off'], '/stalls', { enabled: false }],
    [['stalls', 'on'], '/stalls', { enabled: true }],
    [['terminate', '--reason', 'enough'], '/terminate', { reason: 'enough' }],
    [['steer', 'Use', 'the', 'logger.'], '/steer', { text: 'Use the logger.' }],
    [['task', 'Write tests.'], '/task', { text: 'Write tests.' }],
    [['mode', 'local'], '/mode', { mode: 'local' }],
    [['nudge'], '/nudge', {}],
    [['nudge', 'Wake', 'up'], '/nudge', { message: 'Wake up' }],
    [['handover', 'grace'], '/handover', { to: 'grace' }],
  ])('%j goes to the only open session', async (args, verb, body) => {
    const path = `/sessions/${ids.session}${verb}`
    const server = await openSocketServer({ ...usual, ...posts(path) })
    const { code, err } = await server.run(...args)
    expect([code, err, server.sent()]).toEqual([0, '', [{ method: 'POST', path, body, passphrase: null }]])
    expect(JSON.parse((await server.run(...args, '--json', '--session', '0192f3a1')).out)).toEqual(ok)
  })

  test('with several open sessions it lists them, and takes their short ids or the start of one', async () => {
    const other = { ...supervision, session_id: ids.other, host: 'codex', title: 'Other\x1b[2J' }
    const ended = { ...supervision, session_id: '0192f3ff-0000-7def-8abc-0000000000cc', status: 'terminated' }
    const sessions = [supervision, other, ended].map((one) => ({ session_id: one.session_id, supervision: one }))
    const server = await openSocketServer({
      ...usual,
      'GET /sessions': sessions,
      ...posts(`/sessions/${ids.other}/pause`),
    })
    const { code, err } = await server.run('pause')
    expect([code, err]).toEqual([
      2,
      `quarterdeck: Several sessions are open. Say which one: --session <id>.
  00aa  claude-code Shop /home/ada/shop
  00bb  codex Other<U+001B>[2J /home/ada/shop
`,
    ])
    for (const id of ['0192F3A2', '00bb']) {
      expect(await server.run('pause', '--session', id)).toMatchObject({ code: 0 })
    }
    expect((await server.run('pause', '--session', '0192f3a')).err).toContain('means several')
  })

  test('mode alone says which one it is', async () => {
    expect((await (await openSocketServer(usual)).run('mode')).out).toBe('remote\n')
  })

  test('start sends the prompt and the folder', async () => {
    const server = await openSocketServer({ ...usual, 'POST /sessions': { session_id: ids.other } })
    const { out } = await server.run('start', 'Fix', 'it', '--title', 'Fix')
    expect(server.sent().map(({ body }) => body)).toEqual([{ prompt: 'Fix it', workspace: server.cwd, title: 'Fix' }])
    expect(out).toContain(`Started: session ${ids.other}.`)
  })

  test.each(['shop', './shop', '..', '/srv/shop'])(
    'start --workspace %s: a word is an id, as in Slack',
    async (given) => {
      const server = await openSocketServer({ ...usual, 'POST /sessions': { session_id: ids.other } })
      expect(await server.run('start', 'Fix it', '--workspace', given)).toMatchObject({ code: 0 })
      const workspace = given === 'shop' ? 'shop' : resolve(server.cwd, given)
      expect(server.sent().map(({ body }) => body)).toEqual([{ prompt: 'Fix it', workspace }])
    },
  )

  test('run prints the output without what could touch the terminal, and fails as the command does', async () => {
    const path = `POST /sessions/${ids.session}/run`
    const server = await openSocketServer({
      ...usual,
      [path]: { ...exampleResult, output: 'one\n\x1b[2Jtwo\n', exit_code: 3 },
    })
    expect(await server.run('run', 'test')).toEqual({
      code: 1,
      out: 'one\n<U+001B>[2Jtwo\n',
      err: 'quarterdeck: The command "test" failed: it ended with 3.\n',
    })
  })

  test('run fails when the command was ended, whatever its exit code', async () => {
    const result = {
      ...exampleResult,
      output: '',
      exit_code: 0,
      ended: 'timeout',
      problem: 'It took longer than 60 s and was ended.',
    }
    const server = await openSocketServer({ ...usual, [`POST /sessions/${ids.session}/run`]: result })
    expect(await server.run('run', 'test')).toMatchObject({
      code: 1,
      err: 'quarterdeck: The command "test" failed: It took longer than 60 s and was ended.\n',
    })
  })

  test('purge says what it would remove', async () => {
    const server = await openSocketServer({
      'POST /sessions/purge': { dry_run: true, count: 1, sessions: [ids.other] },
    })
    expect((await server.run('purge', '--dry-run')).out).toBe(`1 session would be removed.\n  ${ids.other}\n`)
    expect(server.sent().map(({ body }) => body)).toEqual([{ dry_run: true }])
  })
})

describe('answers', () => {
  test.each([
    [
      ['reject', '0192f3b1-1', '--reason', 'no'],
      `/approvals/${ids.diff}`,
      { decision: 'reject', digest: 'digest-one', reason: 'no' },
    ],
    [['approve', '0192f3b1-1'], `/approvals/${ids.diff}`, { decision: 'approve', digest: 'digest-one' }],
    [
      ['approve', '0192f3b1-1', '--force'],
      `/approvals/${ids.diff}`,
      { decision: 'approve', digest: 'digest-one', force: true },
    ],
    [['answer', '0192f3b2', 'continue'], `/prompts/${ids.prompt}`, { decision: 'continue' }],
    [
      ['answer', '0192f3b2', 'refine', 'Not', 'that'],
      `/prompts/${ids.prompt}`,
      { decision: 'refine', instruction: 'Not that' },
    ],
    [['answer', '0192f3b2', 'stop', 'enough'], `/prompts/${ids.prompt}`, { decision: 'stop', reason: 'enough' }],
    [['answer', '0192f3b3', 'stop'], `/waits/${ids.wait}`, { stop: true }],
    [['resume', 'Go', 'on'], `/waits/${ids.wait}`, { instruction: 'Go on' }],
    [['answer', '0192f3b3', 'resume'], `/waits/${ids.wait}`, {}],
    [['answer', '0192f3b4', 'nudge', 'Up!'], `/alerts/${ids.alert}/nudge`, { message: 'Up!' }],
    [['answer', '0192f3b4', 'stop'], `/alerts/${ids.alert}/stop`, {}],
    [['dismiss', '0192f3b4'], `/alerts/${ids.alert}/dismiss`, {}],
  ])('%j', async (args, path, body) => {
    const server = await openSocketServer({ ...usual, ...posts(path) })
    const { code, err } = await server.run(...args)
    expect([code, err, server.sent()]).toEqual([0, '', [{ method: 'POST', path, body, passphrase: null }]])
  })

  test('resume lets a paused session go on, and hands it an instruction', async () => {
    const paused = { ...supervision, status: 'paused' }
    const paths = ['resume', 'steer'].map((verb) => `/sessions/${ids.session}/${verb}`)
    const server = await openSocketServer({
      'GET /inbox': { items: [], cursor: 'f.1' },
      'GET /sessions': [{ session_id: ids.session, supervision: paused }],
      ...posts(...paths),
    })
    expect(await server.run('resume', 'Carefully')).toMatchObject({ code: 0, out: 'The session goes on.\n' })
    expect(server.sent().map(({ path, body }) => [path, body])).toEqual([
      [paths[0], {}],
      [paths[1], { text: 'Carefully' }],
    ])
  })

  test('nobody approves something risky that was not shown', async () => {
    const server = await openSocketServer({ ...usual, ...posts(`/approvals/${ids.call}`) })
    const { code, err } = await server.run('approve', '0192f3b1-2')
    expect([code, server.sent()]).toEqual([1, []])
    expect(err).toContain(`Its risk is high, so it has to be looked at first: quarterdeck ctl show ${ids.call}`)
    expect(await server.run('approve', '0192f3b1-2', '--digest', 'digest-old')).toMatchObject({ code: 1 })
    expect(server.sent()).toEqual([])
    expect(await server.run('approve', '0192f3b1-2', '--digest', 'digest-two')).toMatchObject({ code: 0 })
  })

  test('a yes that is not enough is not called an approval', async () => {
    const asked = { ...records.diff, quorum: 2 }
    const server = await openSocketServer({
      ...usual,
      [`GET /approvals/${ids.diff}`]: sent(asked),
      ...posts(`/approvals/${ids.diff}`),
    })
    const { code, out } = await server.run('approve', '0192f3b1-1')
    expect([code, out]).toEqual([
      0,
      'Your yes counts. Somebody else has to say yes too. Change src/a.ts +1 −1 (Faster search)\n',
    ])
    const decisions = [{ by: 'ada\u001b[2J', at: 1, via: 'ctl' }]
    Object.assign(server.answers, { [`GET /approvals/${ids.diff}`]: sent({ ...asked, decisions }) })
    expect((await server.run('show', ids.diff)).out).toContain('yeses      1 of 2: ada<U+001B>[2J. The first no closes')
  })

  test('at a terminal it shows everything, asks, and sends nothing without a yes', async () => {
    const server = await openSocketServer({ ...usual, ...posts(`/approvals/${ids.call}`) })
    for (const [typed, code] of [
      ['no', 1],
      ['yes', 0],
    ] as const) {
      const stdin = new PassThrough()
      const io = server.io({ terminal: true, stdin })
      const done = main(['ctl', 'approve', '0192f3b1-2'], io)
      await io.until('[y/N]')
      expect(io.printed()).toContain('rm -rf build')
      expect(server.sent()).toEqual([])
      stdin.write(`${typed}\n`)
      expect(await done).toBe(code)
    }
    expect(server.sent().length).toBe(1)
  })
})

describe('a question of a tool', () => {
  const id = '0192f3b5-1111-7def-8abc-000000000007'
  const schema = {
    type: 'object',
    properties: { size: { enum: ['S', 'L'] }, gift: { type: 'boolean', default: false }, count: { type: 'integer' } },
    required: ['size'],
  }
  const asking = (more: object = {}) => {
    const question: Approval = {
      ...records.diff,
      id,
      kind: 'question',
      tool: 'order',
      title: 'order asks a question',
      question: { index: 0, effect: 'once', message: 'Which size?', schema },
      digest: 'digest-three',
      supervised: elsewhere,
      ...more,
    }
    return openSocketServer({
      'GET /inbox': { cursor: 'f.1', items: [listed(question)] },
      [`GET /approvals/${id}`]: sent(question),
      ...posts(`/approvals/${id}`),
    })
  }
  const respond = (result: unknown) => ({ decision: 'respond', result, digest: 'digest-three' })

  test('is shown with its fields and the verb that answers it', async () => {
    const { out } = await (await asking()).run('show', '0192f3b5')
    expect(out).toContain('  Which size?\n\nHow to answer:\n  Answer with these fields:\n')
    expect(out).toContain('\n    size (required): one of "S", "L"\n')
    expect(out).toContain(`To answer:\n  quarterdeck ctl answer ${id}\n  quarterdeck ctl reject ${id}\n`)
  })

  test.each([
    [['--set', 'size=L', '--set', 'count=3'], { size: 'L', count: 3 }],
    [['--set', 'size=a=b'], { size: 'a=b' }],
    [['{"size":', '"S"}'], { size: 'S' }],
  ])('answer %j', async (args, result) => {
    const server = await asking()
    expect(await server.run('answer', '0192f3b5', ...args)).toEqual({
      code: 0,
      err: '',
      out: 'Answered. order asks (Which size?)\n',
    })
    expect(server.sent().map(({ body }) => body)).toEqual([respond(result)])
  })

  test('that wants a text takes it as it is', async () => {
    const server = await asking({ question: { index: 0, effect: 'once', message: 'Why?', schema: { type: 'string' } } })
    expect(await server.run('answer', '0192f3b5', 'because', 'of', '7')).toMatchObject({ code: 0 })
    expect(server.sent().map(({ body }) => body)).toEqual([respond('because of 7')])
  })

  test('is refused with reject', async () => {
    const server = await asking()
    expect(await server.run('reject', '0192f3b5', '--reason', 'no')).toMatchObject({ code: 0 })
    expect(server.sent().map(({ body }) => body)).toEqual([
      { decision: 'reject', digest: 'digest-three', reason: 'no' },
    ])
  })

  test.each([
    [['approve', '0192f3b5'], 2, '“approve” is not an answer to this: Question of a tool. It takes answer, reject.'],
    [
      ['answer', '0192f3b5'],
      2,
      `Write the answer: quarterdeck ctl answer ${id} --set size=… --set gift=… --set count=…`,
    ],
    [['answer', '0192f3b5', 'L'], 2, 'The answer is not a text but a value.'],
    [
      ['answer', '0192f3b5', '{}', '--set', 'size=L'],
      2,
      'Give the whole answer, or its fields with --set, but not both.',
    ],
    [['answer', '0192f3b5', '--set', 'colour=red'], 2, 'The question has no field colour. It has: size, gift, count.'],
    [['answer', '0192f3b5', '--set', 'gift=maybe'], 2, 'The field gift needs a number, true, false or other JSON.'],
    [['answer', '0192f3b5', '--set', 'gift'], 2, '--set gift: expected the name of a field, =, and its value.'],
    [['answer', '0192f3b5', '--set', 'size=S', '--set', 'size=L'], 2, 'The field size is given twice.'],
    [['answer', '0192f3b5', '--set', 'size=S', '--digest', 'old'], 1, 'It has changed: its digest is another one.'],
  ])('%j ends with %i and says why', async (args, exitCode, line) => {
    const server = await asking()
    const { code, err } = await server.run(...args)
    expect([code, server.sent(), err.split('\n')[0]]).toEqual([exitCode, [], expect.stringContaining(line)])
  })

  test('with a risk is answered by a program only after it has shown it', async () => {
    const server = await asking({ risk: 'high' })
    expect(await server.run('answer', '0192f3b5', '--set', 'size=S')).toMatchObject({ code: 1 })
    expect(server.sent()).toEqual([])
    const args = ['answer', '0192f3b5', '--set', 'size=S', '--digest', 'digest-three']
    expect(await server.run(...args)).toMatchObject({ code: 0 })
  })

  test('is asked field by field at a terminal, and again until the field can be read', async () => {
    const server = await asking({ risk: 'critical' })
    const stdin = new PassThrough()
    const io = server.io({ terminal: true, stdin })
    const done = main(['ctl', 'answer', '0192f3b5'], io)
    await io.until('\x1b[0Jsize: ')
    expect(io.printed()).toContain('one of "S", "L"')
    stdin.write('\n')
    await io.until('This is needed.')
    stdin.write('L\n')
    await io.until('\x1b[0Jgift: ')
    stdin.write('\n')
    await io.until('\x1b[0Jcount: ')
    stdin.write('many\n')
    await io.until('The field count needs a number')
    stdin.write('\n')
    expect(await done).toBe(0)
    expect(server.sent().map(({ body }) => body)).toEqual([respond({ size: 'L', gift: false })])
  })

  test('stays open after Ctrl-D in the form', async () => {
    const server = await asking()
    const stdin = new PassThrough()
    const io = server.io({ terminal: true, stdin })
    const done = main(['ctl', 'answer', '0192f3b5'], io)
    await io.until('\x1b[0Jsize: ')
    stdin.end()
    expect([await done, server.sent()]).toEqual([1, []])
  })
})

describe('the passphrase', () => {
  const wanted = new Refusal(401, { code: 'passphrase_required', detail: 'This needs the passphrase.' })
  const wrong = new Refusal(403, { code: 'passphrase_wrong', detail: 'This is not the passphrase.' })
  const path = `/approvals/${ids.diff}`
  const guarded = {
    ...usual,
    [`POST ${path}`]: ({ passphrase }: { passphrase: string | null }) =>
      passphrase === null ? wanted : passphrase === 'right horse' ? ok : wrong,
  }

  test('is asked for when the server wants it, and again when it is wrong', async () => {
    const server = await openSocketServer(guarded)
    const stdin = new PassThrough()
    const io = server.io({ terminal: true, stdin })
    await setPassphrase({ passphraseFd: descriptor(server.cwd, 'right horse') }, server.io())
    const done = main(['ctl', 'reject', '0192f3b1-1'], io)
    await io.until('Passphrase: ')
    stdin.write('wrong horse\n')
    await io.until('Try again.\nPassphrase: ')
    stdin.write('right horse\n')
    expect(await done).toBe(0)
    expect(server.sent().map(({ passphrase }) => passphrase)).toEqual([null, 'wrong horse', 'right horse'])
  })

  test('comes from a descriptor for programs, never from a pipe or the environment', async () => {
    const server = await openSocketServer(guarded)
    await setPassphrase({ passphraseFd: descriptor(server.cwd, 'right horse') }, server.io())
    const piped = server.io({ stdin: 'right horse\n', env: { QUARTERDECK_PASSPHRASE: 'right horse' } })
    expect(await main(['ctl', 'reject', '0192f3b1-1'], piped)).toBe(1)
    expect(piped.complained()).toContain('This has to be typed at a terminal, and there is none.')
    const fd = descriptor(server.cwd, 'wrong horse')
    expect(await server.run('reject', '0192f3b1-1', '--passphrase-fd', fd)).toMatchObject({ code: 1 })
    const right = descriptor(server.cwd, 'right horse')
    expect(await server.run('reject', '0192f3b1-1', '--passphrase-fd', right)).toMatchObject({ code: 0 })
  })
})

describe('checkpoints', () => {
  const path = `/checkpoints/${ids.checkpoint}/restore`
  const loss = {
    code: 'restore_unconfirmed',
    detail: 'Confirm it.',
    counts: { added: 7 },
    digest: 'loss-1',
    modified: ['a.ts'],
    deleted: ['b.ts'],
    added: ['c\u202e.ts'],
  }
  const asked = {
    ...usual,
    [`POST ${path}`]: ({ body }: { body: { confirm?: string } }) =>
      body.confirm === 'loss-1' ? { undo: { checkpoint_id: 'u' } } : new Refusal(409, loss),
  }

  test('restore shows what will be lost and asks for the word', async () => {
    const server = await openSocketServer(asked)
    const stdin = new PassThrough()
    const io = server.io({ terminal: true, stdin, env: { NO_COLOR: '1' } })
    const done = main(['ctl', 'restore', '0192f3c1'], io)
    await io.until('Restore these files? [y/N]')
    expect(io.printed()).toContain(`1 changed: they get their old contents back:
  M a.ts
7 new: they are removed:
  - c<U+202E>.ts
  … 6 more
1 deleted: they come back:
  + b.ts
`)
    stdin.write('y\n')
    expect([await done, server.sent().map(({ body }) => body)]).toEqual([0, [{}, { confirm: 'loss-1' }]])
  })

  test('a program confirms what it showed, and files that changed since are not lost', async () => {
    const server = await openSocketServer(asked)
    const first = await server.run('restore', '0192f3c1', '--json')
    expect([first.code, JSON.parse(first.out).digest]).toEqual([1, 'loss-1'])
    expect(await server.run('restore', '0192f3c1', '--confirm', 'loss-0')).toMatchObject({
      code: 1,
      err: 'quarterdeck: The files have changed since you looked. Nothing is restored; look again.\n',
    })
    expect(await server.run('restore', '0192f3c1', '--confirm', 'loss-1')).toMatchObject({ code: 0 })
  })

  test('checkpoint keeps the contents unless told otherwise', async () => {
    const server = await openSocketServer({
      ...usual,
      [`POST /sessions/${ids.session}/checkpoint`]: { checkpoint_id: 'c' },
    })
    await server.run('checkpoint', 'before', 'lunch')
    await server.run('checkpoint', '--no-contents')
    expect(server.sent().map(({ body }) => body)).toEqual([
      { label: 'before lunch', contents: true },
      { contents: false },
    ])
    expect((await server.run('checkpoints')).out).toContain('0006  2026-11-15 09:04:10  before  /home/ada/shop')
  })
})

describe('edit', () => {
  /** An editor that replaces a word. */
  function editor(folder: string): string {
    const path = join(folder, 'editor.mjs')
    writeFileSync(
      path,
      `#!${process.execPath}\nimport { readFileSync, writeFileSync } from 'node:fs'\nconst file = process.argv.at(-1)\nwriteFileSync(file, readFileSync(file, 'utf8').replace('three', 'four'))\n`,
    )
    chmodSync(path, 0o755)
    return path
  }

  /** Takes an edited text as the server does: it keeps it, and wants it to be looked at before the yes. */
  function keepingServer() {
    let digest = 'digest-one'
    const edited = sent(
      { ...records.diff, digest: 'digest-edited', supervised: { ...elsewhere, isEdited: true } },
      { diff: DIFF.replace('three', 'four') },
    )
    return openSocketServer({
      ...usual,
      [`GET /approvals/${ids.diff}`]: () => (digest === 'digest-one' ? usual[`GET /approvals/${ids.diff}`] : edited),
      [`POST /approvals/${ids.diff}`]: ({ body }: { body: { content?: string } }) => {
        if (body.content === undefined) return ok
        digest = 'digest-edited'
        return new Refusal(409, { code: 'approval_changed', detail: 'Look again.', digest })
      },
    })
  }

  test('shows the agent’s text, the operator’s and the difference, then asks', async () => {
    const server = await keepingServer()
    const stdin = new PassThrough()
    const io = server.io({ terminal: true, stdin, env: { EDITOR: editor(server.cwd), NO_COLOR: '1' } })
    const done = main(['ctl', 'edit', '0192f3b1-1'], io)
    await io.until('[y/N]')
    expect(io.printed()).toContain('From the agent’s text to yours\n@@ -1,2 +1,2 @@\n one\n-three\n+four\n')
    stdin.write('yes\n')
    expect(await done).toBe(0)
    expect(server.sent().map(({ body }) => body)).toEqual([
      { decision: 'approve', digest: 'digest-one', content: 'one\nfour\n' },
      { decision: 'approve', digest: 'digest-edited' },
    ])
  })

  test('a no says that the text stays with the request', async () => {
    const server = await keepingServer()
    const stdin = new PassThrough()
    const io = server.io({ terminal: true, stdin, env: { EDITOR: editor(server.cwd), NO_COLOR: '1' } })
    const done = main(['ctl', 'edit', '0192f3b1-1'], io)
    await io.until('[y/N]')
    stdin.write('no\n')
    expect(await done).toBe(1)
    expect(io.complained()).toContain('Not approved. It still waits, with your text in place of the agent’s')
    expect(server.sent()).toHaveLength(1)
  })

  test('an editor that fails or changes nothing decides nothing', async () => {
    const server = await openSocketServer(usual)
    for (const [EDITOR, why] of [
      ['true', 'You have changed nothing. It still waits.'],
      ['false', 'The editor false failed (it ended with 1). Nothing has changed.'],
    ] as const) {
      const io = server.io({ terminal: true, stdin: new PassThrough(), env: { EDITOR } })
      expect(await main(['ctl', 'edit', '0192f3b1-1'], io)).toBe(1)
      expect(io.complained()).toContain(why)
    }
    expect(server.sent()).toEqual([])
  })
})

test('policy says what a file would allow', async () => {
  const content = '{ "enabled": true, "tools": ["Read"] }'
  const policy: Approval = {
    ...records.diff,
    kind: 'policy',
    title: 'Policy of /home/ada/shop',
    supervised: elsewhere,
  }
  const server = await openSocketServer({
    ...usual,
    'GET /inbox': { cursor: 'f.1', items: [listed(policy)] },
    [`GET /approvals/${ids.diff}`]: { ...sent(policy), content },
    ...posts(`/approvals/${ids.diff}`),
  })
  const { out } = await server.run('policy')
  expect(out).toContain('Policy of /home/ada/shop')
  expect(out).toContain('Read')
  expect(await server.run('policy', '--approve')).toMatchObject({ code: 2 })
  expect(await server.run('policy', '0192f3b1', '--approve')).toMatchObject({ code: 0 })
  expect(server.sent().map(({ body }) => body)).toEqual([{ decision: 'approve', digest: 'digest-one' }])
})

describe('remembering', () => {
  const remember = {
    yes: true,
    scopes: ['session', '15m', 'workspace'],
    matches: [
      { label: 'This command: npm test', match: { type: 'command', command: 'npm test', folder: '' } },
      { label: 'Commands that begin with npm test', match: { type: 'begins', words: ['npm', 'test'] } },
    ],
  }
  const record = sent({ ...records.call, risk: 'low' })
  const offered = { ...record, view: { ...record.view, remember } }
  const answers = {
    ...usual,
    [`GET /approvals/${ids.call}`]: offered,
    [`POST /approvals/${ids.call}`]: { ok: true },
  }

  test.each([
    [['approve', '--remember', 'workspace', '--match', 'begins'], 'approve', 'workspace', 1],
    [['approve', '--remember', '15m', '--match', '2'], 'approve', '15m', 1],
    [['reject', '--remember', 'session'], 'reject', 'session', 0],
  ])('%j sends what the server offers', async ([verb = '', ...flags], decision, scope, match) => {
    const server = await openSocketServer(answers)
    expect(await server.run(verb, ids.call, ...flags)).toMatchObject({ code: 0, err: '' })
    expect(server.sent().map(({ body }) => body)).toEqual([
      { decision, digest: 'digest-two', remember: scope, grant: { match: remember.matches[match]?.match } },
    ])
  })

  test.each([
    [['--remember', 'always'], 'This can be remembered with --remember session, 15m, workspace, and --match:'],
    [['--remember', 'session', '--match', 'tool'], '2 or begins: Commands that begin with npm test'],
    [['--match', '1'], '--match needs --remember'],
  ])('%j is refused with what is offered', async (flags, words) => {
    const server = await openSocketServer(answers)
    const { code, err } = await server.run('approve', ids.call, ...flags)
    expect([code, err]).toEqual([2, expect.stringContaining(words)])
    expect(server.sent()).toEqual([])
  })

  test('grants are listed and revoked by their short id', async () => {
    const grant = {
      ...exampleOf(GrantSchema),
      grant_id: '0192f3d1-1111-7def-8abc-00000000beef',
      label: 'The tool x\x1b[2J',
    }
    const server = await openSocketServer({
      'GET /grants': { grants: [grant] },
      [`DELETE /grants/${grant.grant_id}`]: { ok: true },
    })
    expect((await server.run('grants')).out).toMatch(
      /\nbeef +allow +assistant +The tool x<U\+001B>\[2J +in this session /,
    )
    expect((await server.run('grants', 'revoke', 'beef')).out).toContain('The next such call asks again.')
    expect(server.sent().map(({ method, path }) => `${method} ${path}`)).toEqual([`DELETE /grants/${grant.grant_id}`])
    expect((await server.run('grants', 'revoke', 'dead')).err).toContain('No grant has the id "dead"')
  })

  test('what agents remember is listed and forgotten', async () => {
    const memory = { ...exampleOf(MemorySchema), memory_id: 'beef', text: 'Likes \x1b[2Jtea.' }
    const server = await openSocketServer({
      'GET /memories': { memories: [memory], complete: false },
      'DELETE /memories/beef': { ok: true },
      'DELETE /memories': { forgotten: 2 },
    })
    expect((await server.run('memories')).out).toMatch(/\nbeef +ada +assistant +Likes <U\+001B>\[2Jtea\.[\s\S]*not all/)
    expect((await server.run('memories', 'forget', 'beef')).out).toContain('Forgotten: Likes ')
    expect((await server.run('memories', 'forget', 'dead')).err).toContain('No fact has the id "dead"')
    expect((await server.run('memories', 'forget', '--all')).err).toContain('--all needs --owner')
    expect((await server.run('memories', 'forget')).code).toBe(2)
    expect((await server.run('memories', 'forget', '--all', '--owner', 'ada')).out).toBe(
      'Forgotten: 2 facts about ada.\n',
    )
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /memories?owner=*',
      'GET /memories?owner=*',
      'DELETE /memories/beef?owner=ada',
      'GET /memories?owner=*',
      'DELETE /memories?owner=ada',
    ])
  })

  test('a user is erased, and what is left is named', async () => {
    const { left, ...counts } = ErasedUserSchema.parse(exampleOf(ErasedUserSchema))
    const server = await openSocketServer({
      'DELETE /users/mia': { ...counts, left: [] },
      'DELETE /users/corp%3Aann': { ...counts, user: 'corp:ann', left },
    })
    expect(await server.run('users', 'erase', 'mia')).toEqual({
      code: 0,
      err: '',
      out: 'Erased of mia: tokens 1, devices 0, push subscriptions 0, sign ins 1, schedules 0, sessions 3, memories 4.\n',
    })
    const { code, out, err } = await server.run('users', 'erase', 'corp:ann', '--yes')
    expect([code, out]).toEqual([1, expect.stringContaining('Erased of corp:ann: ')])
    expect(err).toContain(`  session ${left[0]?.id}: An agent elsewhere works in this session. Terminate`)
    expect((await server.run('users', 'erase')).code).toBe(2)
  })

  test('filters go to the server', async () => {
    const server = await openSocketServer(usual)
    await server.run('list', '--risk', 'high', '--agent', 'codex', '--folder', 'shop', '--text', 'a b')
    expect(server.seen.map(({ path }) => path)).toContain('/inbox?risk=high&agent=codex&folder=shop&q=a+b&limit=100')
  })
})
