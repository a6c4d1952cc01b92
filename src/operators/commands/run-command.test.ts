import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { WorkspaceSettings } from '../../domain/settings/supervision-settings.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { root as admin, agentIn, callOf } from '../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../supervision/testing/workspace.ts'
import { annOnSlack, eveOnSlack, openCommandServices, words } from '../testing/open-command-services.ts'

const refused = (code: string, message: string | RegExp) => ({
  error: code,
  parts: expect.arrayContaining([{ kind: 'text', text: expect.stringMatching(message) }]),
})

describe('help', () => {
  test('lists everything by category, then one category, then one command', async () => {
    const { type } = openCommandServices()

    const all = await type('')
    expect(words(all)).toEqual(
      expect.arrayContaining([
        'Sessions of agents (sessions)',
        'session-start PROMPT [--workspace ID] [--host NAME]',
        'Files of a workspace (files)',
        'show-file PATH [--lines A:B] [--workspace ID]',
        'greet',
      ]),
    )
    expect(words(await type('help files')).slice(0, 2)).toEqual([
      'Files of a workspace',
      'list-files [PATH] [--depth 3] [--workspace ID]: Lists the files of the workspace, without those that .gitignore excludes.',
    ])
    expect(words(await type('help Steer'))).toEqual([
      'steer TEXT: Sends the agent a message, with the result of its next call.',
    ])
    expect(words(await type('help greet'))).toEqual(['greet: Runs this command of quarterdeck.yaml in the workspace.'])
    expect(words(await type('help commands', annOnSlack, {}, { aliases: [] }))).toContain(
      'No commands are configured: add some under commands in quarterdeck.yaml.',
    )
    expect(await type('help flies')).toMatchObject(refused('invalid_request', /Did you mean files\?/))
  })

  test('comes with a hint for a word that is nearly a command', async () => {
    const { type } = openCommandServices()
    expect(await type('sesion-pause')).toEqual({
      parts: [
        {
          kind: 'text',
          text: 'There is no command "sesion-pause". Did you mean session-pause? Type help to see them all.',
        },
      ],
      error: 'command_not_found',
    })
  })
})

describe('sessions', () => {
  test('are listed with what waits, only those of the channel', async () => {
    const { type, open, tools, nextWaiting, sessions, clock } = openCommandServices()
    expect(words(await type('sessions'))).toEqual([
      'No agent has an open session in this channel. To start one: session-start PROMPT',
    ])
    const { id, root, agent } = await open({ 'a.ts': 'old\n' })
    const elsewhere = await open({}, { channelId: 'C2' })
    const unnamed = await open({}, { channelId: null })
    const gone = await open()
    await sessions.interrupt(gone.id, 'Its process ended.')
    void tools.ask_approval(callOf(agent, { limitMs: 3_600_000 }), {
      title: 'Better\u202e',
      diff: 'new\n',
      file_path: 'a.ts',
    })
    await nextWaiting()
    await clock.advance(5 * 60_000)

    const shown = words(await type('sessions'))

    const short = (line = '') => line.split(' · ')[0] ?? 'none'
    expect(shown.map((line) => line.split(' · ').slice(1))).toEqual([
      [],
      ['active', 'claude-code', 'ann', root, '1 question waits for an answer', 'last heard 5 min ago'],
      [],
      ['interrupted', 'claude-code', 'ann', gone.root, 'last heard 5 min ago'],
    ])
    expect([shown[0], shown[2]]).toEqual(['1 open session', 'Interrupted'])
    expect(id.endsWith(short(shown[1])) && gone.id.endsWith(short(shown[3]))).toBe(true)
    const inC2 = words(await type('sessions', annOnSlack, { channelId: 'C2' }))
    expect([inC2.length, elsewhere.id.endsWith(short(inC2[1]))]).toEqual([2, true])
    const inC0 = words(await type('sessions', annOnSlack, { channelId: 'C0' }))
    expect([inC0.length, unnamed.id.endsWith(short(inC0[1]))]).toEqual([2, true])
    expect(words(await type('inbox'))).toEqual([
      '1 waiting',
      expect.stringMatching(
        /^\S+ · Change of a file, risk low: writes files of the workspace · Change a\.ts \+1 −1 Better<U\+202E> · session \S+ · asked 5 min ago$/,
      ),
    ])
    expect(words(await type('inbox', admin, { channelId: 'C2' }))).toEqual(['Nothing waits in this channel.'])
    expect(await type('inbox now')).toMatchObject(
      refused('invalid_request', /does not understand "now"\. Write: inbox/),
    )
  })

  test('are listened to or not, as an operator says', async () => {
    const { type, open, sessions } = openCommandServices()
    const { id } = await open()
    const isOff = async () => (await sessions.get(id)).supervision.stallsOff

    expect(words(await type('session-stalls off'))[0]).toMatch(/raises no alert and no nudge/)
    expect(await isOff()).toBe(true)
    expect(words(await type(`session-stalls ${id} on`))[0]).toMatch(/counts again/)
    expect(await isOff()).toBe(false)
    expect(await type('session-stalls perhaps')).toMatchObject(refused('invalid_request', /on, or off/))
  })

  test('are paused, resumed and ended: the only open one, or by their id', async () => {
    const { type, open, sessions } = openCommandServices()
    const statusOf = async (id: string) => (await sessions.get(id)).supervision.status
    const first = await open()

    expect(words(await type('session-pause'))[0]).toMatch(/is paused: its calls are refused until session-resume/)
    expect(await statusOf(first.id)).toBe('paused')
    expect(words(await type('session-pause'))[0]).toMatch(/was paused already/)
    const second = await open()
    // Two are open, one of them is paused: that one is meant.
    expect(words(await type('session-resume'))[0]).toMatch(/goes on/)
    expect(await statusOf(first.id)).toBe('active')
    expect(words(await type(`session-resume ${first.id}`))[0]).toMatch(/is not paused/)

    const unclear = await type('session-clear')
    expect(unclear).toMatchObject(refused('conflict', /Several sessions are open in this channel. Say which one/))
    expect(words(unclear)).toHaveLength(3)
    expect(await type(`session-clear ${first.id.slice(0, 6)}`)).toMatchObject(
      refused('conflict', /means several sessions/),
    )
    expect(await type('session-clear 01a')).toMatchObject(refused('invalid_request', /at least 4 characters/))
    expect(await type('session-clear ffff')).toMatchObject(refused('session_not_found', /No session of this channel/))
    expect(await type(`session-clear ${second.id} now`)).toMatchObject(refused('invalid_request', /understand "now"/))
    expect(words(await type(`session-clear --session ${second.id.toUpperCase()}`))[0]).toMatch(/has ended/)
    expect(await statusOf(second.id)).toBe('terminated')
    expect(await type(`session-pause ${second.id}`)).toMatchObject(refused('session_ended', /To start a new one/))
    expect(words(await type('session-clear', annOnSlack, { sessionOfThread: first.id }))[0]).toMatch(/has ended/)
    expect(await type('session-pause')).toMatchObject(refused('session_not_found', /No agent has an open session/))
  })

  test('of other channels do not exist here, not even for an admin', async () => {
    const { type, open, sessions } = openCommandServices()
    const { id } = await open({ 'a.ts': '' }, { channelId: 'C2' })
    await sessions.steer(annOnSlack, id, 'hello')
    for (const line of [
      `session-clear ${id}`,
      `session-pause --session ${id}`,
      `steer --session ${id} stop`,
      `list-files --session ${id}`,
      `show-file a.ts --session ${id}`,
      `session-checkpoint x --session ${id}`,
      `greet ${id}`,
    ]) {
      expect(await type(line, admin)).toMatchObject(refused('session_not_found', /No session of this channel/))
      expect(await type(line.replace(/(--session )?0\S+/, ''), admin, { sessionOfThread: id })).toMatchObject({
        error: 'session_not_found',
      })
    }
    expect((await sessions.get(id)).supervision.status).toBe('active')
  })

  test('of others can be seen, which is on record, but not commanded', async () => {
    const { type, open, audit } = openCommandServices()
    await open({ 'a.ts': 'x\n' })

    expect(words(await type('sessions', eveOnSlack))[0]).toBe('1 open session')
    expect((await type('show-file a.ts', eveOnSlack)).error).toBe(undefined)
    for (const line of ['session-clear', 'session-pause', 'steer go', 'task go', 'session-checkpoint', 'greet']) {
      expect(await type(line, eveOnSlack)).toMatchObject(refused('forbidden', /only ann or an admin may decide/))
    }
    expect((await audit()).filter(({ by }) => by === 'eve').map(({ kind }) => kind)).toEqual([
      'operator_list',
      'operator_read',
    ])
    expect((await type('session-pause', admin)).error).toBe(undefined)
  })

  test('start in the workspace of the channel, and report to it', async () => {
    const { type, sessions } = openCommandServices()
    const workspace = (id: string, channelId: string | null) => ({ path: `/srv/${id}`, id, channelId, label: null })
    const here = { workspaces: [workspace('shop', null), workspace('own', 'C1'), workspace('other', 'C2')] }

    const started = await type('session-start Fix the login — “now”', annOnSlack, {}, here)
    expect(words(started)[0]).toMatch(
      /^Started custom in .*workspace\S+: session \S+\. What it asks appears in this channel\.$/,
    )
    const [{ supervision, owner } = { supervision: null, owner: null }] = await sessions.list({ limit: 10 })
    expect([owner, supervision?.prompt, supervision?.channelId]).toEqual(['ann', 'Fix the login — “now”', 'C1'])
    await type('session-start Go --workspace shop', annOnSlack, { channelId: 'C3' }, here)
    expect((await sessions.list({ limit: 1 }))[0]?.supervision.channelId).toBe('C3')

    expect(await type('session-start Go --workspace other', annOnSlack, {}, here)).toMatchObject(
      refused('forbidden', /belongs to another channel/),
    )
    expect(
      await type('session-start Go', annOnSlack, {}, { workspaces: [workspace('a', null), workspace('b', null)] }),
    ).toEqual({
      parts: [
        { kind: 'text', text: 'Say where the agent works: --workspace ID.' },
        { kind: 'lines', lines: ['a', 'b'] },
      ],
      error: 'invalid_request',
    })
    expect(await type('session-start Go')).toMatchObject(refused('invalid_request', /--workspace PATH/))
    expect(await type('session-start')).toMatchObject(refused('invalid_request', /prompt of 1 to 10000/))
    expect(await type(`session-start ${'x'.repeat(10_001)}`)).toMatchObject(refused('invalid_request', /prompt of 1/))
    expect(await type('session-start Go --workspace shop --host codex')).toMatchObject(
      refused('conflict', /It is missing\. Install it with: npm install codex/),
    )
  })
})

describe('remembered answers', () => {
  test('are listed where their agents work, and revoked by their short id', async () => {
    const { type, open, tools, nextWaiting, approvals } = openCommandServices()
    const { root, agent } = await open()
    await open({}, { channelId: 'C2' })
    expect(words(await type('grants'))).toEqual(['Nothing is remembered for the agents of this channel.'])
    const asked = { tool_name: 'Bash', input: { command: 'npm test' }, tool_use_id: 'one' }
    void tools.approve_tool(callOf(agent, { limitMs: 3_600_000 }), asked)
    const { id } = await nextWaiting()
    await approvals.decide(annOnSlack, id, { decision: 'approve', remember: { scope: 'workspace' } })

    const [head, line = ''] = words(await type('grants'))
    expect([head, line.split(' · ').slice(1)]).toEqual([
      '1 remembered answer',
      ['allowed', 'This command: npm test', 'in this workspace, until revoked', 'claude', root, 'by ann'],
    ])
    expect(words(await type('grants', annOnSlack, { channelId: 'C2' }))[0]).toMatch(/^Nothing is remembered/)
    const short = line.split(' · ')[0]
    expect(await type(`revoke ${short}`, annOnSlack, { channelId: 'C2' })).toMatchObject(
      refused('grant_not_found', /No grant of this channel has the id/),
    )
    expect(words(await type(`revoke ${short}`))).toEqual([
      'Revoked: This command: npm test. The next such call asks again.',
    ])
    expect(words(await type('grants'))[0]).toMatch(/^Nothing is remembered/)
  })
})

describe('words for an agent', () => {
  test('reach it as they were typed, from the person who typed them', async () => {
    const { type, open, store } = openCommandServices()
    const { id, root } = await open()
    const other = await open()

    expect(words(await type(`steer ${id} “Don’t touch the API”`))).toEqual([
      'The agent gets this with the result of its next call.',
    ])
    await type(`steer dead code goes first --session ${id}`)
    await type('steer "019a is a number"', annOnSlack, { sessionOfThread: other.id })
    expect(words(await type(`task --session ${id} Write the docs`))).toEqual([
      `The next session in ${root} gets this task.`,
    ])

    const found = await store.supervised.instructions({ limit: 10 })
    expect(found.map(({ kind, text, source, sessionId }) => [kind, text, source, sessionId])).toEqual([
      ['steering', 'Don’t touch the API', 'ann via slack', id],
      ['steering', 'dead code goes first', 'ann via slack', id],
      ['steering', '019a is a number', 'ann via slack', other.id],
      ['task', 'Write the docs', 'ann via slack', null],
    ])
  })

  test('wait for an agent that is paused or away, and are refused if there are none or too many', async () => {
    const { type, open, sessions } = openCommandServices()
    const { id } = await open()
    await type('session-pause')
    expect(words(await type('steer go'))[0]).toMatch(/It gets this after session-resume/)
    await sessions.interrupt(id, 'gone')
    expect(words(await type(`steer ${id} go`))[0]).toMatch(/when it comes back/)
    expect(words(await type(`session-resume ${id}`))[0]).toMatch(/is open again/)
    expect(await type(`steer ${id}`)).toMatchObject(refused('invalid_request', /text of 1 to 4000/))
    expect(await type(`steer ${id} ${'x'.repeat(4_001)}`)).toMatchObject(
      refused('invalid_request', /text of 1 to 4000/),
    )
    await type(`session-clear ${id}`)
    expect(await type(`steer ${id} go`)).toMatchObject(refused('session_ended', /has ended/))
    expect(await type(`greet ${id}`)).toMatchObject(refused('session_ended', /has ended/))
  })
})

describe('an alias', () => {
  test('runs in the workspace, and its output comes inline or as a file', async () => {
    const { type, open, audit } = openCommandServices()
    const { id } = await open()

    const greeting = await type('greet')
    expect(greeting.parts).toEqual([
      { kind: 'heading', text: expect.stringMatching(/^greet: exit code 0 after \d+\.\d s$/) },
      { kind: 'code', text: 'hello' },
    ])
    expect(words(await type(`quiet ${id}`))).toEqual([
      expect.stringMatching(/^quiet: exit code 3/),
      'It printed nothing.',
    ])
    const { parts, file } = await type('Chatty')
    expect([parts.length, file?.name, file?.content.split('\n').length]).toEqual([1, 'chatty.txt', 100])
    expect(words(await type('odd'))[1]).toBe('a<U+202E>b')
    expect(await type(`greet ${id} --loud`)).toMatchObject({ error: 'invalid_request' })
    expect(await type('greet a b')).toMatchObject({ error: 'invalid_request' })
    expect((await audit()).filter(({ what }) => what === 'command')[0]).toMatchObject({
      alias: 'greet',
      by: 'ann',
      channel: 'slack',
      credential: 'U0ANN',
    })
  })
})

describe('files', () => {
  test('are listed as a tree, inline up to 40 lines', async () => {
    const { type, open } = openCommandServices()
    const { root } = await open({ 'src/a.ts': '12345', 'src/deep/b.ts': '', '.gitignore': 'dist/', 'dist/x': '' })
    symlinkSync('src', join(root, 'link'))
    writeFileSync(join(root, 'odd\u202e.ts'), '')

    expect((await type('list-files')).parts).toEqual([
      { kind: 'heading', text: 'The workspace: 7 entries' },
      {
        kind: 'code',
        text: 'src/\n  deep/\n    b.ts  0 B\n  a.ts  5 B\n.gitignore  5 B\nlink (link)\nodd<U+202E>.ts  0 B',
      },
      { kind: 'text', text: '1 entry is left out: generated, or excluded by .gitignore.' },
    ])
    expect(words(await type('list-files src —depth 1'))).toEqual(['src: 2 entries', 'deep/', 'a.ts  5 B'])
    for (let i = 0; i < 41; i += 1) writeFileSync(join(root, 'src', `f${i}`), '')
    const { parts, file } = await type('list-files “src” --depth=1')
    expect([parts, file?.name, file?.content.split('\n').length]).toEqual([
      [{ kind: 'heading', text: 'src: 43 entries' }],
      'files.txt',
      43,
    ])
  })

  test('are refused with a reason where they must not be shown, or are not clear', async () => {
    const { type, open } = openCommandServices()
    const { root } = await open({ 'a.ts': '1\n2\n', '.env': 'x', '.git/config': 'x' })
    symlinkSync('/etc', join(root, 'out'))
    for (const [line, code, message] of [
      ['list-files ..', 'path_violation', /cannot be used/],
      ['list-files /etc', 'path_violation', /relative to the workspace/],
      ['list-files .git', 'forbidden', /is not shown here/],
      ['list-files gone', 'file_not_found', /There is no folder "gone"/],
      ['list-files --depth 11', 'invalid_request', /1 to 10/],
      ['list-files --depth 0', 'invalid_request', /1 to 10/],
      ['list-files --depth all', 'invalid_request', /--depth is a whole number, not "all"/],
      ['list-files a b', 'invalid_request', /does not understand "b"/],
      ['show-file', 'invalid_request', /Name a file/],
      ['show-file my file.ts', 'invalid_request', /does not understand "file.ts"/],
      ['show-file ../a', 'path_violation', /cannot be used/],
      ['show-file out/passwd', 'path_violation', /leads out of the workspace/],
      ['show-file .env', 'forbidden', /passwords and keys/],
      ['show-file .git/config', 'forbidden', /is not shown here/],
      ['show-file gone.ts', 'file_not_found', /There is no file "gone.ts"/],
      ['show-file a.ts --lines 9:12', 'invalid_request', /has only 2 lines/],
      ['show-file a.ts --lines 2:1', 'invalid_request', /10:20/],
      ['show-file a.ts --lines 0', 'invalid_request', /counted from 1/],
      ['show-file a.ts --lines x', 'invalid_request', /--lines takes/],
      ['show-file a.ts --lines :', 'invalid_request', /--lines takes/],
    ] as const) {
      expect(await type(line)).toMatchObject(refused(code, message))
    }
  })

  test('are shown with numbers, or as a file beyond 30 lines or 2 KB', async () => {
    const { type, open } = openCommandServices()
    const many = Array.from({ length: 50 }, (_, i) => `line ${i + 1}`)
    const { id } = await open({
      'src/a.ts': many.join('\n'),
      'wide.py': 'x'.repeat(2_049),
      'my file.md': 'text\n',
      'odd.ts': 'a\u202eb\n',
      empty: '',
    })

    expect((await type('show-file src/a.ts --lines 9:11')).parts).toEqual([
      { kind: 'heading', text: 'src/a.ts: lines 9 to 11 of 50, 390 B' },
      { kind: 'code', text: ' 9  line 9\n10  line 10\n11  line 11' },
    ])
    expect(words(await type('show-file src/a.ts --lines 50:')).slice(1)).toEqual(['50  line 50'])
    expect(words(await type('show-file src/a.ts --lines :1')).slice(1)).toEqual(['1  line 1'])
    expect(words(await type('show-file src/a.ts --lines 7')).slice(1)).toEqual(['7  line 7'])
    expect(words(await type(`show-file ${id} “my file.md”`))).toEqual(['my file.md: 1 line, 5 B', '1  text'])
    expect(words(await type('show-file odd.ts'))).toEqual([
      'odd.ts: 1 line, 6 B',
      'It has characters that hide. They are shown as marks, such as <U+202E>.',
      '1  a<U+202E>b',
    ])
    expect(words(await type('show-file empty'))).toEqual(['empty', 'The file is empty.'])
    expect(await type('show-file src/a.ts')).toEqual({
      parts: [{ kind: 'heading', text: 'src/a.ts: 50 lines, 390 B' }],
      file: { name: 'a.ts', content: many.join('\n'), snippetType: 'javascript', to: 'room' },
    })
    expect((await type('show-file wide.py')).file).toMatchObject({ name: 'wide.py', snippetType: 'python' })
  })
})

describe('checkpoints', () => {
  test('are kept, listed and restored after a second command that names what was shown', async () => {
    const { type, open, sessions } = openCommandServices()
    const { id, root } = await open({ 'a.ts': 'old\n', 'gone.ts': 'was here\n', '.github/ci.yml': 'old\n' })
    const file = (path: string) => readFileSync(join(root, path), 'utf8')
    expect(words(await type('session-checkpoints'))[0]).toMatch(/There are no checkpoints/)

    const saved = words(await type('session-checkpoint before the “big” change'))[0] ?? ''
    expect(saved).toMatch(/^Checkpoint \S+ keeps 3 files, 17 B\. To go back to it: session-restore \S+$/)
    const short = saved.split(' ')[1] ?? ''
    expect(words(await type('session-checkpoints'))).toEqual([
      '1 checkpoint',
      expect.stringMatching(`^${short} · before the “big” change · just now · 3 files, 17 B · session ${id.slice(-4)}`),
    ])

    writeFileSync(join(root, 'a.ts'), 'new\n')
    writeFileSync(join(root, '.github/ci.yml'), 'new\n')
    rmSync(join(root, 'gone.ts'))
    writeFileSync(join(root, 'more.ts'), '')
    const plan = await type(`session-restore ${short}`)
    expect(words(plan)).toEqual([
      `Restore checkpoint ${short} · before the “big” change?`,
      '1 protected: they can change what programs do here',
      '! .github/ci.yml',
      '2 changed: they get their old contents back',
      'M .github/ci.yml',
      'M a.ts',
      '1 new: they are removed',
      '- more.ts',
      '1 deleted: they come back',
      '+ gone.ts',
      'The session ends, and a new one goes on from here. What goes away is kept in a checkpoint of its own.',
    ])
    expect(file('a.ts')).toBe('new\n')

    for (let i = 0; i < 11; i += 1) writeFileSync(join(root, `new${i}.ts`), '')
    const again = await type(plan.confirm?.command ?? '')
    expect(words(again)[0]).toMatch(/^The files have changed since you looked\. Nothing is restored/)
    expect(words(again)).toContain('… 2 more')
    expect(again.file?.name).toBe('restore-plan.txt')
    expect(again.file?.content).toContain('- new9.ts')
    expect(again.confirm?.command).not.toBe(plan.confirm?.command)
    expect(file('a.ts')).toBe('new\n')
    expect((await sessions.get(id)).supervision.status).toBe('active')

    expect(await type(again.confirm?.command ?? '', eveOnSlack)).toMatchObject({ error: 'forbidden' })
    expect(await type(again.confirm?.command ?? '', annOnSlack, { channelId: 'C2' })).toMatchObject({
      error: 'record_not_found',
    })
    const done = words(await type(again.confirm?.command ?? ''))
    expect(done).toEqual([
      expect.stringMatching(/^Restored checkpoint \S+: 3 files written, 12 removed\.$/),
      expect.stringMatching(/^The old session has ended, and session \S+ goes on.* To undo this: session-restore \S+$/),
    ])
    expect([file('a.ts'), file('gone.ts'), existsSync(join(root, 'more.ts'))]).toEqual(['old\n', 'was here\n', false])
    expect((await sessions.get(id)).supervision.status).toBe('terminated')
    const [next] = await sessions.list({ statuses: ['created'], limit: 1 })
    expect([next?.supervision.channelId, next?.owner]).toEqual(['C1', 'ann'])

    expect(words(await type('session-checkpoints'))[0]).toBe('2 checkpoints')
    expect(words(await type(`session-checkpoints ${next?.id}`))[0]).toMatch(/There are no checkpoints/)
    expect(words(await type('session-checkpoints', annOnSlack, { channelId: 'C2' }))[0]).toMatch(/no checkpoints/)
    expect(words(await type(`session-restore ${id.slice(0, 6)}`))).toEqual([
      expect.stringMatching(/means several checkpoints/),
      expect.stringMatching(/^\S+ · before restoring before the “big” change · just now$/),
      expect.stringMatching(/^\S+ · before the “big” change · just now$/),
    ])
  })

  test('are refused with a reason', async () => {
    const { type, open } = openCommandServices()
    await open()
    for (const [line, code, message] of [
      ['session-restore', 'invalid_request', /Name one checkpoint/],
      ['session-restore a b', 'invalid_request', /Name one checkpoint/],
      ['session-restore 01--', 'invalid_request', /at least 4/],
      ['session-restore ffff', 'record_not_found', /No checkpoint of this channel/],
      [`session-checkpoint ${'x'.repeat(201)}`, 'invalid_request', /label of 1/],
    ] as const) {
      expect(await type(line)).toMatchObject(refused(code, message))
    }
  })
})

describe('who may give commands', () => {
  test.each(['user', 'anyone'] as const)('not somebody whose role is %s', async (role) => {
    const { type, open } = openCommandServices()
    await open()
    for (const line of ['help', 'sessions', 'session-clear', 'session-start x', 'greet', 'nonsense']) {
      expect(await type(line, { user: 'ann', role })).toMatchObject(refused('forbidden', /Only operators/))
    }
  })

  test('a failure of the server is logged, and the person is told no details', async () => {
    const lines: LogLine[] = []
    const { type } = openCommandServices()
    const broken = {
      logger: recordingLogger(lines),
      inbox: {
        list: async () => {
          throw new TypeError('secret detail')
        },
      },
    }
    expect(await type('inbox', annOnSlack, {}, broken)).toEqual({
      parts: [{ kind: 'text', text: 'Something went wrong here. The log of the server says what.' }],
      error: 'internal_error',
    })
    expect(lines.map(({ level, message }) => [level, message])).toEqual([['error', 'a command of a chat failed']])
  })
})

describe('a workspace of the channel in which no agent works', () => {
  const workspaceAt = (path: string, values: Partial<WorkspaceSettings> = {}): WorkspaceSettings => ({
    ...{ path, id: 'shop', channelId: 'C1', label: null, ...values },
  })

  test('is looked into, and commands run there', async () => {
    const { type } = openCommandServices()
    const workspaces = [workspaceAt(makeWorkspace({ 'src/a.ts': 'const a = 1\n', '.env': 'TOKEN=x\n' }))]
    const there = (line: string) => type(line, annOnSlack, {}, { workspaces })

    expect(words(await there('list-files'))).toEqual(expect.arrayContaining(['src/', '  a.ts  12 B']))
    expect(words(await there('show-file src/a.ts'))).toContain('1  const a = 1')
    expect(await there('show-file .env')).toMatchObject({ error: expect.any(String) })
    expect(await there('show-file ../x')).toMatchObject({ error: 'path_violation' })
    expect(words(await there('greet'))[0]).toMatch(/^greet: exit code 0/)
    expect(words(await there('sessions'))).toEqual([
      'No agent has an open session in this channel. To start one: session-start PROMPT',
    ])
  })

  test('is named where there are several, and is never one of another channel', async () => {
    const { type, open, audit } = openCommandServices()
    const [one, two] = [makeWorkspace({ 'one.txt': '1\n' }), makeWorkspace({ 'two.txt': '2\n' })]
    const workspaces = [
      workspaceAt(one),
      workspaceAt(two, { id: 'docs' }),
      workspaceAt(makeWorkspace(), { id: 'secret', channelId: 'C2' }),
    ]
    const there = (line: string, by = annOnSlack) => type(line, by, {}, { workspaces })

    expect(await there('list-files')).toMatchObject(refused('conflict', /Several workspaces .+ --workspace ID/))
    expect(words(await there('list-files --workspace docs'))).toContain('two.txt  2 B')
    expect(await there('list-files --workspace secret')).toMatchObject(refused('invalid_request', /is called "secret"/))
    expect(await there('list-files --workspace /etc')).toMatchObject(refused('invalid_request', /is called "\/etc"/))
    // An agent of Ann's works in another folder. Hers are looked into on record, whoever names their workspace.
    await open({}, { channelId: 'C1' })
    expect(words(await there('list-files --workspace docs'))).toContain('two.txt  2 B')
    const { id, root } = await open({ 'a.txt': 'a' })
    await type('list-files --workspace shop', eveOnSlack, {}, { workspaces: [workspaceAt(root)] })
    expect((await audit()).filter(({ kind }) => kind === 'operator_read')).toMatchObject([{ owner: 'ann' }])
    expect(id).toBeDefined()
  })

  test('gets tasks, which the next session of the same owner takes', async () => {
    const { type, tools } = openCommandServices()
    const root = makeWorkspace()
    const workspaces = [workspaceAt(root)]
    expect(words(await type('task Update the docs.', annOnSlack, {}, { workspaces }))).toEqual([
      `The next session in ${root} gets this task.`,
    ])
    await type('task Not for Ann.', eveOnSlack, {}, { workspaces })

    const { answer } = await tools.check_auto_approve(callOf(agentIn(root)), { tool_name: 'Read' })
    expect(JSON.stringify(answer)).toContain('Update the docs.')
    expect(JSON.stringify(answer)).not.toContain('Not for Ann.')
  })
})
