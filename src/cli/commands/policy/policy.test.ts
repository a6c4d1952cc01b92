import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../app/open-store.ts'
import {
  accept,
  acceptedRun,
  append,
  done,
  newApproval,
  newAudit,
  newSession,
  waitingSession,
} from '../../../store/contract/samples.contract.ts'
import { addDecided, addSupervised, type Decided } from '../../../supervision/testing/decided.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, instantClock } from '../../testing/test-io.ts'

const NOW = Date.UTC(2026, 10, 15)
const HOUR = 3_600_000

const POLICY = `{
  "enabled": true,
  "commands": ["npm test", "make; ls"],
  "tools": ["Read"],
  "file_patterns": { "write": ["src/**", ".git/**"] }
}
`
const SETTINGS = `commands:
  test: npm test
  lint: [npm, run, lint]
`

async function project(files: Record<string, string>): Promise<string> {
  const cwd = await tempFolder()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(cwd, name, '..'), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
  return cwd
}

async function run(cwd: string, ...args: string[]) {
  const io = createTestIo({ cwd, clock: instantClock(NOW) })
  const exitCode = await main(['policy', ...args], io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck policy check', () => {
  test('explains a file line by line, with the commands of the server in mind', async () => {
    const cwd = await project({ 'policy.json': POLICY, 'quarterdeck.yaml': SETTINGS })
    expect(await run(cwd, 'check', 'policy.json')).toEqual({
      exitCode: 0,
      out: `line 2   enabled  The policy is switched on.
         note: It allows nothing until an operator accepts this file.
line 3   commands[0]  The command npm test passes.
line 3   commands[1]  make; ls allows nothing.
         note: It has ;, which only a shell understands.
line 4   tools[0]  Every call of the tool Read passes, except one that runs a command or touches a protected path.
line 5   file_patterns.write[0]  Writing files like src/** passes.
line 5   file_patterns.write[1]  .git/** allows nothing.
         note: It is protected. Git runs hooks, filters and commands that are named here.
Everything else needs an approval, and always: critical risk, protected paths, other commands.
`,
      err: '',
    })
  })

  test('promises nothing that the server would ask about', async () => {
    const cwd = await project({
      'p.json': '{"file_patterns": {"write": ["web/package.json"], "read": ["web/package.json"]}}',
    })
    const { out } = await run(cwd, 'check', 'p.json')
    expect(out).toContain('file_patterns.write[0]  web/package.json allows nothing.')
    expect(out).toContain('file_patterns.read[0]  Reading web/package.json passes.')
  })

  test('takes the commands from another settings file, or says that it does not know them', async () => {
    const cwd = await project({ 'p.json': '{"commands": ["npm run lint"]}', 'etc/q.yaml': SETTINGS })
    expect((await run(cwd, 'check', 'p.json', '--config', 'etc/q.yaml')).out).not.toContain('note:')
    expect((await run(cwd, 'check', 'p.json')).out).toContain(
      'note: Only if the same command is among the commands of quarterdeck.yaml.',
    )
    expect(await run(cwd, 'check', 'p.json', '--config', 'no.yaml')).toMatchObject({ exitCode: 2, out: '' })
    await writeFile(join(cwd, 'quarterdeck.yaml'), 'prot: 1\n')
    expect(await run(cwd, 'check', 'p.json')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('quarterdeck.yaml:1:1'),
    })
  })

  test('names every problem of a broken file: exit 1', async () => {
    const cwd = await project({ 'p.json': '{\n  "enable": true,\n  "tools": "Read"\n}' })
    expect(await run(cwd, 'check', 'p.json')).toEqual({
      exitCode: 1,
      out: '',
      err: `p.json:2:3 enable: unknown key. Did you mean enabled?
p.json:3:12 tools: expected a list of texts: ["…"]

A file with a problem allows nothing.
`,
    })
    expect((await run(cwd, 'check', 'p.json', '--json')).exitCode).toBe(1)
    await writeFile(join(cwd, 'p.json'), 'policy: yes')
    expect(await run(cwd, 'check', 'p.json')).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('p.json:1:1: this is not valid JSON'),
    })
    await symlink('p.json', join(cwd, 'link.json'))
    expect(await run(cwd, 'check', 'link.json')).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('link.json:1:1: it is a link.'),
    })
  })

  test('needs a file that exists: exit 2', async () => {
    expect(await run(await tempFolder(), 'check', 'p.json')).toEqual({
      exitCode: 2,
      out: '',
      err: 'quarterdeck: There is no file p.json.\n  Check the path.\n',
    })
  })

  test('prints JSON', async () => {
    const cwd = await project({ 'p.json': '{"enabled": false}', 'bad.json': '{' })
    expect(JSON.parse((await run(cwd, 'check', 'p.json', '--json')).out)).toEqual({
      ok: true,
      lines: [
        { line: 1, path: 'enabled', means: 'The policy is switched off: every request needs an approval.', note: null },
      ],
      problems: [],
    })
    expect(JSON.parse((await run(cwd, 'check', 'bad.json', '--json')).out)).toEqual({
      ok: false,
      lines: [],
      problems: [
        { line: 1, column: 2, path: '', message: 'the file ends here, but a key in double quotes is missing.' },
      ],
    })
    await writeFile(join(cwd, 'p.json'), '{}')
    expect((await run(cwd, 'check', 'p.json')).out).toBe('The file says nothing, so every request needs an approval.\n')
  })
})

async function past(): Promise<{ cwd: string; session: string }> {
  const cwd = await project({ 'p.json': POLICY, 'quarterdeck.yaml': SETTINGS, 'ws/x': '' })
  const root = join(cwd, 'ws')
  const store = openStore({ dataDir: join(cwd, '.quarterdeck'), fatal() {} })
  await waitingSession(store, (waiting) => [
    newApproval(waiting, { createdAt: NOW - 2 * HOUR, risk: 'low' }),
    newApproval(waiting, { createdAt: NOW - 3 * HOUR, risk: 'critical' }),
    newApproval(waiting, { createdAt: NOW - 30 * 24 * HOUR }),
  ])
  const session = await addSupervised(store, root, NOW, [
    { ago: 1 * HOUR, change: 'src/a.ts' },
    { ago: 4 * HOUR, tool: 'Bash', input: { command: 'npm test' } },
    { ago: 5 * HOUR, tool: 'Bash', input: { command: 'npm test; rm -rf .' } },
    { ago: 6 * HOUR, tool: 'Write', input: { file_path: join(root, 'src/b.ts'), content: 'x' } },
    { ago: 7 * HOUR, tool: 'Write', input: { file_path: '/etc/passwd' } },
    { ago: 8 * HOUR, tool: 'Move', input: { path: 'a', file: 'b' } },
  ])
  const audited = await acceptedRun(store, accept(newSession()))
  const auto = (at: number, details: Record<string, string>) =>
    newAudit('policy', { at, kind: 'auto_approved', session: session.id, tool: 'Read', details })
  await done(
    store,
    append(audited, [], {
      sync: true,
      audit: [
        auto(NOW - 30 * 24 * HOUR, { risk: 'low', rule: 'tool:Read' }),
        auto(NOW - 9 * HOUR, { risk: 'low', rule: 'tool:Read', file_path: 'docs/x' }),
        auto(NOW - 9 * HOUR, { risk: 'none', rule: 'tool:Read' }),
        newAudit('ann'),
      ],
    }),
  )
  await store.close()
  return { cwd, session: session.id }
}

describe('quarterdeck policy try', () => {
  test('replays what was asked and what passed, and says what the policy would have done', async () => {
    const { cwd } = await past()
    expect(await run(cwd, 'try', 'p.json')).toEqual({
      exitCode: 0,
      out: `REQUESTS  VERDICT  TOOL          RULE OR REASON
1         allowed  Read          tool:Read
1         refused  Move          It is not clear which file the call touches or which command it runs.
1         refused  Write         The path is not a plain path inside the workspace.
1         allowed  Write         file_pattern:write:src/**
1         refused  Bash          No policy covers this command: it has ;, which only a shell understands.
1         allowed  Bash          command:npm test
1         refused  send_mail     A person decides about everything of critical risk.
1         asked    send_mail     The policy does not list the tool send_mail.
1         allowed  ask_approval  file_pattern:write:src/**

9 requests since 2026-11-08 00:00 (UTC): 4 allowed, 1 asked, 4 refused.
Refused means that no policy may allow it: a person is always asked.
`,
      err: '',
    })
  })

  test('prints each request as JSON, oldest first', async () => {
    const { cwd, session } = await past()
    const { exitCode, out, err } = await run(cwd, 'try', 'p.json', '--since', '270m', '--workspace', 'ws', '--json')
    expect([exitCode, err]).toEqual([0, ''])
    const lines: unknown[] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const base = { session_id: session, risk_level: 'low', outcome: 'pending', verdict: 'allowed' }
    expect(lines).toEqual([
      {
        ...base,
        at: '2026-11-14T20:00:00.000Z',
        tool_name: 'Bash',
        file_path: null,
        command: 'npm test',
        matched_rule: 'command:npm test',
        why: 'The policy allows it: command:npm test',
      },
      {
        ...base,
        at: '2026-11-14T23:00:00.000Z',
        tool_name: 'ask_approval',
        file_path: 'src/a.ts',
        command: null,
        matched_rule: 'file_pattern:write:src/**',
        why: 'The policy allows it: file_pattern:write:src/**',
      },
    ])
  })

  test('points at requests that a person rejected and the policy would let pass', async () => {
    const cwd = await project({ 'p.json': '{"enabled": true, "tools": ["send_mail"], "risk_level_threshold": "high"}' })
    const store = openStore({ dataDir: join(cwd, '.quarterdeck'), fatal() {} })
    await waitingSession(store, (waiting) =>
      Array.from({ length: 250 }, (_, i) =>
        newApproval(waiting, { createdAt: NOW - 1000 - i, callId: `c${i}`, status: i < 12 ? 'rejected' : 'approved' }),
      ),
    )
    await store.close()
    const { out } = await run(cwd, 'try', 'p.json')
    expect(out).toContain('250 requests since 2026-11-08 00:00 (UTC): 250 allowed, 0 asked, 0 refused.\n')
    expect(out).toContain('\nLook at these: a person said no, and the policy would have let them pass.\n')
    expect(out.match(/ {2}2026-11-14 23:59 {2}\w{26} {2}send_mail {2}\(tool:send_mail\)\n/g)).toHaveLength(10)
    expect(out).toContain('  2 older ones are not shown. --json has all.\n')
  })

  test('says that without settings no command counts as allowed', async () => {
    const { cwd } = await past()
    await writeFile(join(cwd, 'other.yaml'), '')
    expect((await run(cwd, 'try', 'p.json', '--config', 'other.yaml')).out).toContain(': 3 allowed, ')
    const elsewhere = await project({ 'p.json': POLICY })
    expect(await run(elsewhere, 'try', 'p.json', '--data-dir', join(cwd, '.quarterdeck'))).toMatchObject({
      exitCode: 0,
      err: 'This folder has no quarterdeck.yaml, so no command counts as allowed. Name it: --config <file>\n',
    })
  })

  test('works beside a server, and on a store without requests', async () => {
    const cwd = await project({ 'p.json': '{}' })
    expect(await run(cwd, 'try', 'p.json')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('There is no data of'),
    })
    const store = openStore({ dataDir: join(cwd, '.quarterdeck'), fatal() {} })
    expect(await run(cwd, 'try', 'p.json')).toEqual({
      exitCode: 0,
      out: '0 requests since 2026-11-08 00:00 (UTC): 0 allowed, 0 asked, 0 refused.\n',
      err: '',
    })
    await store.close()
  })

  test('refuses a broken file and a wrong age before it reads anything', async () => {
    const cwd = await project({ 'p.json': '{"x": 1}', 'ok.json': '{}' })
    expect(await run(cwd, 'try', 'p.json')).toMatchObject({
      exitCode: 1,
      out: '',
      err: expect.stringContaining('p.json:1:2 x: unknown key.'),
    })
    expect(await run(cwd, 'try', 'ok.json', '--since', 'yesterday')).toEqual({
      exitCode: 2,
      out: '',
      err: 'quarterdeck: --since "yesterday" is not an age.\n  Write 24h or 7d, for example.\n',
    })
  })
})

describe('quarterdeck policy draft', () => {
  async function decided() {
    const cwd = await project({ 'quarterdeck.yaml': SETTINGS, 'ws/x': '' })
    const root = join(cwd, 'ws')
    const store = openStore({ dataDir: join(cwd, '.quarterdeck'), fatal() {} })
    const yes = { status: 'approved' as const, decidedBy: 'ada', decidedAt: NOW }
    await addDecided(store, root, NOW, [
      ...Array<Decided>(12).fill(['npm test', 'approved']),
      ...Array<Decided>(3).fill(['make all', 'approved']),
      ['rm -r src', 'rejected'],
    ])
    await addSupervised(store, root, NOW, [
      ...['a', 'b', 'c'].map((name, i) => ({ ago: HOUR + i, change: `src/${name}.ts`, values: yes })),
      { ago: HOUR, tool: 'Bash', input: { command: 'npm test \u202ex' }, values: yes },
    ])
    // Another workspace is another matter.
    await addDecided(store, join(cwd, 'other'), NOW, [['npm test', 'rejected']])
    return { cwd, root, store }
  }
  const expected = {
    enabled: true,
    commands: ['npm test'],
    tools: [],
    file_patterns: { write: ['src/**'], read: [] },
    risk_level_threshold: 'low',
    log_auto_approved: false,
    summary_interval_seconds: 300,
  }

  test('prints a policy, and beside it what each line rests on, what it would have changed, and what it leaves open', async () => {
    const { cwd, store } = await decided()
    // The server runs meanwhile.
    const { exitCode, out, err } = await run(cwd, 'draft', '--workspace', 'ws')
    await store.close()
    expect(exitCode).toBe(0)
    expect(JSON.parse(out)).toEqual(expected)
    expect(err).toBe(`The draft allows:
  command:npm test — allowed 12 times, refused 0, by ada.
  file_pattern:write:src/** — allowed 3 times, refused 0, by ada. For example src/a.ts, src/b.ts, src/c.ts
Of 20 requests, people were asked about 20. With this policy it would have been 5.

It leaves open:
  make all — allowed 3 times, refused 0, by ada. The command is not one of the commands in the server’s settings.
  npm test <U+202E>x — allowed 1 time, refused 0, by ada. The request has characters that people do not see.
  rm -r src — allowed 0 times, refused 1, by ada. People refused it.

A policy covers only commands that quarterdeck.yaml lists. To have these covered, add them there, restart the server, and draft again:
commands:
  make-all: ["make","all"]

It counts after an operator has accepted it: save it as .quarterdeck/policy.json in the workspace and approve it in the inbox, or draft it in the console.

`)
  })

  test('prints what check and try can read, or everything as JSON', async () => {
    const { cwd, root, store } = await decided()
    await store.close()
    await writeFile(join(cwd, 'draft.json'), (await run(cwd, 'draft', '--workspace', 'ws')).out)
    expect((await run(cwd, 'check', 'draft.json')).exitCode).toBe(0)
    expect((await run(cwd, 'try', 'draft.json', '--workspace', 'ws')).out).toContain(
      ': 15 allowed, 0 asked, 5 refused.',
    )
    const { out, err } = await run(cwd, 'draft', '--workspace', 'ws', '--json')
    expect(err).toBe('')
    expect(JSON.parse(out)).toMatchObject({
      workspace: root,
      base_sha256: null,
      lines: [{ what: 'command:npm test', allowed: 12 }, { what: 'file_pattern:write:src/**' }],
      replay: { asked: 20, left: 5 },
    })
  })

  test('says that it does not see the settings', async () => {
    const { cwd, store } = await decided()
    await store.close()
    const { err } = await run(join(cwd, 'ws'), 'draft', '--data-dir', '../.quarterdeck')
    expect(err).toContain('This folder has no quarterdeck.yaml, so no command counts as allowed. Name it: --config')
  })

  test('a folder without a past, and an age that is none', async () => {
    const { cwd, store } = await decided()
    await store.close()
    const none = await run(cwd, 'draft')
    expect(JSON.parse(none.out)).toMatchObject({ enabled: true, commands: [] })
    expect(none.err).toContain('Nothing was allowed often enough for a line: the draft allows nothing.\n')
    expect(await run(cwd, 'draft', '--since', 'week')).toMatchObject({ exitCode: 2, out: '' })
  })
})
